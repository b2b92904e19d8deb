import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { address, drawn, edited, launch, modelOf, open, windowOf } from "./page.mjs";
import { eventually, says } from "./patience.mjs";
import { enrich } from "./rich.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const rich = () => edited(drawn("video"), "rich", (report) => enrich(report));
const column = (page, table, at) => page.locator(`table[aria-labelledby="table-${table}"] tbody tr > :nth-child(${at})`).allTextContents();

/** What a button saves. */
async function saved(page, name) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

test("the overview says which stage took most, and what was found", async () => {
  const { page } = await open(browser, rich());
  const verdict = await page.locator(".verdict").textContent();
  // Of 10.696 s: two thirds of each step but the attention in it.
  assert.match(verdict, /^transformer_forward takes 22\.2 % of 10\.696 s by itself; the most severe of 3 findings: The first step/);
  const cards = await page.locator(".cards").textContent();
  for (const figure of ["10.696 s", "240 ms / 288 ms", "3.97 it/s", "11.57 FPS", "13.5 GiB", "21.4 %", "1.056 s"]) {
    assert.ok(cards.includes(figure), figure);
  }
  await page.locator(".finding-list a").nth(1).click();
  await eventually(page, address, /finding=2/);
  await says(page.locator(".finding.chosen"), /Memory of the GPU/);
});

test("the overview of a killed run says what had not ended and what was lost", async () => {
  const { page } = await open(browser, drawn("killed"));
  assert.match(await page.locator(".verdict").textContent(), /^generate takes 76\.7 % of 300 ms and had not ended, in step for 80\.0 ms so far/);
  // Of 300 ms: generate from 70 to 300; steps of 60, 60, 24 and the open 80 ms; load of 50.
  const rows = await page.locator('table[aria-label="Where the time went"] tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows, [
    ["generate had not ended, 230 ms so far", "", "2.0 %", "76.7 %"],
    ["step had not ended, 80.0 ms so far", "", "74.7 %", "74.7 %"],
    ["load", "", "16.7 %", "16.7 %"],
  ]);
  const quality = await page.locator(".quality").textContent();
  for (const part of ["killed by SIGKILL (9)", "12 sections are in the totals only", "1 event, reading", "ends within a block", "generate › step", "80.0 ms so far", "15 calls, 3 of them"]) {
    assert.ok(quality.includes(part), `${part} in ${quality}`);
  }
});

test("a run of nothing has no view that is empty", async () => {
  const { page } = await open(browser, drawn("empty"));
  assert.deepEqual(await page.getByRole("tab").allTextContents(), ["Overview", "Findings", "System", "Help"]);
  assert.match(await page.locator(".verdict").textContent(), /recorded no section/);
});

test("a page that has not all of its run says so, where it is asked and at the table", async () => {
  const path = edited(drawn("video"), "cut", (report, model) => {
    report.activity.cache_timeline.length = 20;
    model.left_out = [{ list: "activity.cache_timeline", kept: 20, left_out: 8 }];
    model.timeline.summarised = { n_slices: 2_000_000, n_summaries: 900, shorter_than_ns: 1500 };
  });
  const { page } = await open(browser, path);
  const quality = (await page.locator(".quality").textContent()).replaceAll("\u2009", " ");
  assert.match(quality, /this page lists 20 of 28 uses of caches\. Figures count all\./);
  assert.match(quality, /puts 2 000 000 sections shorter than 1\.50 µs together/);
  await page.getByRole("tab", { name: "Caches" }).click();
  await says(page.locator(".view-caches .tools"), /8 more are not in this page/);
});

test("phases tell loading from work", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=phases" });
  // load_models is open from 20 ms to 1400 ms.
  assert.match(await page.locator(".purposes").textContent(), /load 1\.380 s 12\.9 %/);
  const names = await page.locator(".waterfall tbody th").allTextContents();
  assert.deepEqual(names.slice(0, 4), ["load_models", "load_transformer", "load_vae", "text_encoding"]);
});

test("phases, findings, sessions and cache events lead to their place in the timeline", async () => {
  const { page, problems } = await open(browser, rich(), { hash: "#view=phases" });
  const followed = async (view, link) => {
    await page.evaluate((to) => { location.hash = `#view=${to}`; }, view);
    await page.waitForSelector(`.view-${view}`);
    await page.locator(link).first().click();
    await page.waitForSelector(".view-timeline");
    return (await windowOf(page)).map((time) => time / 1e6);
  };
  assert.deepEqual(await followed("phases", ".waterfall tbody a"), [20, 1400]);
  assert.deepEqual(await followed("phases", "table[aria-labelledby=table-phases] tbody tr:nth-child(2) a"), [2005, 9966]);
  assert.deepEqual(await followed("sessions", "tbody a"), [1500, 10_650]);
  // A quarter of the 900 ms on either side.
  assert.deepEqual(await followed("findings", ".intervals a"), [1775, 3125]);
  const [from, to] = await followed("caches", "tbody a");
  assert.ok(from < 2006 && 2006 < to);
  assert.deepEqual(problems, []);
});

test("a table is sorted by its headings, and given back in its order by the third click", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=phases" });
  const heading = page.getByRole("columnheader", { name: "Mean", exact: true });
  const given = await column(page, "phases", 1);
  assert.equal(await heading.getAttribute("aria-sort"), "none");
  await heading.getByRole("button").click();
  const order = () => heading.getAttribute("aria-sort");
  await eventually(page, order, "descending");
  assert.equal((await column(page, "phases", 1))[0], "load_models");
  await eventually(page, address, /sort\.phases=mean_ns%3Adown/);
  await heading.getByRole("button").click();
  await eventually(page, order, "ascending");
  assert.equal((await column(page, "phases", 1))[0], "block › denoising_step › scheduler_step");
  await heading.getByRole("button").click();
  await eventually(page, () => column(page, "phases", 1), given);
  await eventually(page, address, (now) => !now.includes("sort"));
});

test("unknown figures stand last in either order", async () => {
  for (const direction of ["up", "down"]) {
    const { page } = await open(browser, drawn("video"), { hash: `#view=phases&sort.phases=rest_mean_ns:${direction}` });
    const shown = await column(page, "phases", 8);
    assert.deepEqual(shown.slice(-4), ["-", "-", "-", "-"]);
    assert.ok(!shown.slice(0, -4).includes("-"));
  }
});

test("a search leaves the rows that have it, and is in the address", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches" });
  await page.getByRole("searchbox").fill("HIT");
  const nShown = () => page.locator("tbody tr").count();
  await eventually(page, nShown, 6);
  await eventually(page, address, /find\.cache_events=HIT/);
  await says(page.getByRole("status"), /6 of 28/);
  await page.reload();
  await eventually(page, nShown, 6);
});

test("what is exported are the figures of the model", async () => {
  const path = drawn("video");
  const { tree } = modelOf(path).report.sections;
  const { page } = await open(browser, path, { hash: "#view=phases" });
  const json = await saved(page, "JSON");
  assert.equal(json.name, "phases.json");
  const rows = JSON.parse(json.text);
  assert.deepEqual(
    rows.map((row) => [row.count, row.total_ns, row.self_ns, row.p95_ns, row.rest_mean_ns, row.share_ratio]),
    tree.map(({ calls, ...row }) => [calls.count, row.inclusive_ns, row.self_ns, calls.percentiles.p95_ns, calls.rest_mean_ns, row.share_of_wall_ratio]),
  );
  const csv = await saved(page, "CSV");
  const [titles, first] = csv.text.split("\r\n");
  assert.deepEqual(titles.split(","), Object.keys(rows[0]));
  assert.deepEqual(first.split(","), Object.values(rows[0]).map((value) => (value === null ? "" : String(value))));
});

test("an export is what the table shows: found and in order", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches&find.cache_events=hit&sort.cache_events=at_ns:down" });
  const rows = JSON.parse((await saved(page, "JSON")).text);
  assert.deepEqual(rows.map(({ outcome }) => outcome), Array(6).fill("hit"));
  const times = rows.map(({ at_ns }) => at_ns);
  assert.deepEqual(times, [...times].sort((a, b) => b - a));
});

test("a name that would be a formula is a text in a spreadsheet", async () => {
  const path = edited(drawn("video"), "formula", (report) => {
    report.quality.unavailable = ["=1+1", "+1", "-1", "@a", 'a "b", c', "a=b"].map((what) => ({ what, why: "x" }));
  });
  const { page } = await open(browser, path, { hash: "#view=system" });
  const tools = page.locator(".table:has(#table-unavailable)");
  const [file] = await Promise.all([page.waitForEvent("download"), tools.getByRole("button", { name: "CSV" }).click()]);
  const text = await readFile(await file.path(), "utf8");
  assert.equal(text, `what,why\r\n'=1+1,x\r\n'+1,x\r\n'-1,x\r\n'@a,x\r\n"a ""b"", c",x\r\na=b,x\r\n`);
});

test("a long table is shown in pages", async () => {
  const path = edited(drawn("video"), "long", ({ activity }) => {
    const [event] = activity.cache_timeline;
    activity.cache_timeline = Array.from({ length: 1200 }, (_, at) => ({ ...event, at_ns: at * 1e6 }));
  });
  const { page } = await open(browser, path, { hash: "#view=caches" });
  assert.equal(await page.locator("tbody tr").count(), 500);
  const next = page.getByRole("button", { name: "Next" });
  await next.click();
  await next.click();
  await eventually(page, () => page.locator("tbody tr").count(), 200);
  await eventually(page, address, /page\.cache_events=3/);
  await eventually(page, () => next.isDisabled(), true);
  assert.equal(JSON.parse((await saved(page, "JSON")).text).length, 1200);
});

test("caches show each hit and miss, and what scores were compared with", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches" });
  const text = await page.locator(".cache").textContent();
  for (const part of ["teacache", "hit rate21.4 % 6 of 28 lookups", "hits 6", "misses 22", "held at most256.0 MiB"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  const ticks = await page.locator(".strip").first().locator("path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d").split("M").length - 1));
  assert.deepEqual(ticks, [6, 22]);
});

test("a finding has its figures, what to do, what that saves, and its place", async () => {
  const { page } = await open(browser, rich(), { hash: "#view=findings" });
  const cards = await page.locator(".finding").allTextContents();
  assert.equal(cards.length, 3);
  for (const part of ["high", "42.0 %", "limit 20.0 %", "Do less of it", "about 900 ms, at most 1.200 s", "medium", "block", "2.000 s for 900 ms"]) {
    assert.ok(cards[0].includes(part), `${part} in ${cards[0]}`);
  }
  assert.match(cards[1], /23\.8 GiB.*limit 24\.0 GiB.*at most 3\.0 GiB/);
  assert.ok(!(await page.locator("text=2.1 GB/s were read").isVisible()));
  await page.getByText("1 check passed").click();
  await page.locator("text=2.1 GB/s were read").waitFor();
  await page.getByText("1 check could not be made").click();
  await page.locator("text=no temperature was sampled").waitFor();
});

test("the system view has the command, the versions and what could not be read", async () => {
  const { page } = await open(browser, rich(), { hash: "#view=system" });
  const text = await page.locator("main").textContent();
  for (const part of ["python generate.py --prompt '(redacted)'", "python.version3.12.4", "64.0 GiB", "no driver answered", "prompt ready", "tokens: 77"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test("values of any length are cut until all of them is asked for, and a name of nothing is said to be none", async () => {
  const path = edited(drawn("video"), "long", (report) => {
    report.run.facts.push(["config.prompt", "x".repeat(10_000)]);
    report.quality.unavailable = [{ what: "nvml", why: "y".repeat(10_000) }];
    report.sections.tree[0].name = "";
    report.sections.tree[1].name = " \u2800";
  });
  const { page, problems } = await open(browser, path, { hash: "#view=system" });
  const text = await page.locator("main").textContent();
  assert.ok(!text.includes("x".repeat(300)) && !text.includes("y".repeat(400)));
  await page.getByRole("button", { name: /^show all/ }).first().click();
  await says(page.locator("main"), /x{10000}/);
  await page.getByRole("tab", { name: "Phases" }).click();
  await eventually(page, async () => (await column(page, "phases", 1)).slice(0, 2), ["(no name)", "(no name)"]);
  assert.deepEqual(problems, []);
});

test("what samplers took is a sentence", async () => {
  const path = edited(drawn("video"), "samplers", (report) => {
    report.activity.telemetry.samplers = [{ name: "host", late_s: null, missed: 0, cpu: { total: 0.001, per_second: { min: 0, mean: 0.0004, max: 0 } } }];
  });
  const { page } = await open(browser, path);
  assert.match(await page.locator(".quality").textContent(), /Sampling the host took less than 0\.1 % of one core\./);
});

test("sessions stand with their tags", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=sessions" });
  assert.match(await page.locator("tbody").textContent(), /generation1\.500 s.*model: self_forcing/);
  const used = { process: { cpu_ns: 2_500_000_000, read_bytes: 1 << 30, written_bytes: 0 }, growth_bytes: 3 << 20 };
  const read = edited(drawn("video"), "session-resources", (report) => {
    report.sessions[0].used = used;
  });
  const { page: other } = await open(browser, read, { hash: "#view=sessions" });
  assert.match(await other.locator("thead").textContent(), /CPURead.*Memory grew/);
  assert.match(await other.locator("tbody").textContent(), /2\.500 s1\.0 GiB\+3\.0 MiB/);
});
