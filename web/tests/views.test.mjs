import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { rowsOf } from "./charts.mjs";
import { address, drawn, edited, launch, modelOf, open, tableOf, windowOf } from "./page.mjs";
import { eventually, says } from "./patience.mjs";
import { enrich } from "./rich.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const rich = () => edited(drawn("video"), "rich", (_, model) => enrich(model));
const column = (page, table, at) => page.locator(`table[aria-labelledby="table-${table}"] tbody tr > :nth-child(${at})`).allTextContents();
const tools = (page, table) => page.locator(`.table:has(#table-${table}) .tools`);

/** What a button of a table saves. */
async function saved(page, table, name) {
  const [file] = await Promise.all([page.waitForEvent("download"), tools(page, table).getByRole("button", { name, exact: true }).click()]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

test("the overview begins with how the run ended, and a picture of its time that adds up", async () => {
  const { page } = await open(browser, drawn("video"));
  assert.match(await page.locator(".verdict").textContent(), /finished in 10\.70 s/);
  const rows = await page.locator(".picture tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
  const sum = rows.reduce((sum, row) => sum + Math.round(Number.parseFloat(row[2]) * 100), 0);
  assert.equal(sum, 1070);
  // All of it as one bar: the parts fill it, each as wide as its share.
  const widths = await page.locator(".all-of-it").evaluate((bar) => [...bar.children].map((part) => part.getBoundingClientRect().width / bar.getBoundingClientRect().width));
  rows.forEach((row, at) => assert.ok(Math.abs(widths[at] * 100 - Number.parseFloat(row[3])) < 1, `${row}: ${widths[at]}`));
  const facts = await page.locator(".facts-block").first().textContent();
  for (const figure of ["10.696 s", "median 234 ms", "21.4 %"]) {
    assert.ok(facts.includes(figure), figure);
  }
});

test("a killed run says what had not ended and what was lost", async () => {
  const { page } = await open(browser, drawn("killed"));
  assert.match(await page.locator(".verdict").textContent(), /killed/);
  await page.getByRole("tab", { name: "System" }).click();
  // Of 300 ms: generate from 70 to 300; the open step of 80 ms.
  assert.deepEqual((await column(page, "open", 1)).map((path) => path.split(" / ").at(-1)).sort(), ["generate", "step"]);
  assert.ok((await column(page, "open", 3)).includes("80.0 ms"));
  const quality = await page.locator("main").textContent();
  for (const part of ["12 sections are in the totals only", "1 event, reading", "ends within a block"]) {
    assert.ok(quality.includes(part), `${part} in ${quality}`);
  }
});

test("a run of nothing has no view that is empty", async () => {
  const { page } = await open(browser, drawn("empty"));
  const tabs = await page.getByRole("tab").allTextContents();
  assert.deepEqual(tabs.filter((tab) => !["Overview", "Sections", "System", "Help"].includes(tab)), []);
});

test("a page that has not all of its run says so at the timeline", async () => {
  const path = edited(drawn("video"), "cut", (_, model) => {
    model.timeline.summarised = { n_slices: 2_000_000, n_summaries: 900, shorter_than_ns: 1500 };
  });
  const { page } = await open(browser, path, { hash: "#view=timeline" });
  const note = await page.locator(".note").first().textContent();
  assert.match(note.replaceAll("\u2009", " "), /2 000 000 sections shorter than 1\.50 µs are drawn as 900 put together/);
});

test("findings and moments in tables lead to their place in the timeline", async () => {
  const { page, problems } = await open(browser, rich());
  const followed = async (view, link) => {
    await page.evaluate((to) => { location.hash = `#view=${to}`; }, view);
    await page.waitForSelector(`.view-${view}`);
    await page.locator(link).first().click();
    await page.waitForSelector(".view-timeline");
    return (await windowOf(page)).map((time) => time / 1e6);
  };
  // A quarter of the 900 ms on either side.
  assert.deepEqual(await followed("overview", ".finding a"), [1775, 3125]);
  const [from, to] = await followed("caches", "tbody a");
  assert.ok(from < 2006 && 2006 < to);
  assert.deepEqual(problems, []);
});

test("a table is sorted by its headings, and given back in its order by the third click", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=sections" });
  const table = page.locator('table[aria-labelledby="table-sections"]');
  const heading = table.getByRole("columnheader", { name: "Mean", exact: true });
  const given = await column(page, "sections", 1);
  assert.equal(await heading.getAttribute("aria-sort"), "none");
  await heading.getByRole("button").click();
  const order = () => heading.getAttribute("aria-sort");
  await eventually(page, order, "descending");
  assert.equal((await column(page, "sections", 1))[0], "load_models");
  await eventually(page, address, /sort\.sections=mean_ns%3Adown/);
  await heading.getByRole("button").click();
  await eventually(page, order, "ascending");
  assert.equal((await column(page, "sections", 1))[0], "scheduler_step");
  await heading.getByRole("button").click();
  await eventually(page, () => column(page, "sections", 1), given);
  await eventually(page, address, (now) => !now.includes("sort"));
});

test("unknown figures stand last in either order", async () => {
  for (const direction of ["up", "down"]) {
    const { page } = await open(browser, drawn("video"), { hash: `#view=sections&sort.sections=rest_mean_ns:${direction}` });
    const shown = await column(page, "sections", 12);
    const known = shown.filter((figure) => figure !== "-");
    assert.ok(known.length < shown.length);
    assert.deepEqual(shown.slice(0, known.length), known);
  }
});

test("a search leaves the rows that have it, and is in the address", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches" });
  await tools(page, "cache_events").getByRole("searchbox").fill("HIT");
  const nShown = () => page.locator('table[aria-labelledby="table-cache_events"] tbody tr').count();
  await eventually(page, nShown, 6);
  await eventually(page, address, /find\.cache_events=HIT/);
  await says(page.getByRole("status"), /6 of 28/);
  await page.reload();
  await eventually(page, nShown, 6);
});

test("what is exported are the figures of the model", async () => {
  const path = drawn("video");
  const { columns, rows } = tableOf(modelOf(path), "section_names");
  const { page } = await open(browser, path, { hash: "#view=sections" });
  const json = await saved(page, "section_names", "JSON");
  assert.equal(json.name, "section_names.json");
  const said = JSON.parse(json.text);
  assert.deepEqual(said.map((row) => Object.values(row)), rows.map((row) => row.map(({ value }) => value ?? null)));
  assert.deepEqual(Object.keys(said[0]), columns.map(({ key }) => key));
  const csv = await saved(page, "section_names", "CSV");
  const [titles, first] = csv.text.split("\r\n");
  assert.deepEqual(titles.split(","), Object.keys(said[0]));
  assert.deepEqual(first.split(","), Object.values(said[0]).map((value) => (value === null ? "" : String(value))));
});

test("an export is what the table shows: found and in order", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches&find.cache_events=hit&sort.cache_events=at_ns:down" });
  const rows = JSON.parse((await saved(page, "cache_events", "JSON")).text);
  assert.deepEqual(rows.map(({ outcome }) => outcome), Array(6).fill("hit"));
  const times = rows.map(({ at_ns }) => at_ns);
  assert.deepEqual(times, [...times].sort((a, b) => b - a));
});

test("a name that would be a formula is a text in a spreadsheet", async () => {
  const path = edited(drawn("gpu"), "formula", (_, model) => {
    const table = tableOf(model, "unavailable") ?? model.contents.tabs.at(-1).blocks[model.contents.tabs.at(-1).blocks.push({ kind: "table", content: { key: "unavailable", title: "x", columns: [{ key: "what", title: "What" }, { key: "why", title: "Why" }], notes: [] } }) - 1].content;
    table.rows = ["=1+1", "+1", "-1", "@a", 'a "b", c', "a=b"].map((what) => [what, "x"].map((value) => ({ unit: "text", value })));
  });
  const { page } = await open(browser, path, { hash: "#view=system" });
  const { text } = await saved(page, "unavailable", "CSV");
  assert.equal(text, `what,why\r\n'=1+1,x\r\n'+1,x\r\n'-1,x\r\n'@a,x\r\n"a ""b"", c",x\r\na=b,x\r\n`);
});

test("a long table is shown in pages", async () => {
  const path = edited(drawn("video"), "long", (_, model) => {
    const table = tableOf(model, "cache_events");
    table.rows = Array.from({ length: 1200 }, () => table.rows[0]);
  });
  const { page } = await open(browser, path, { hash: "#view=caches&rows.cache_events=all" });
  const nShown = () => page.locator('table[aria-labelledby="table-cache_events"] tbody tr').count();
  assert.equal(await nShown(), 500);
  const next = page.getByRole("button", { name: "Next" });
  await next.click();
  await next.click();
  await eventually(page, nShown, 200);
  await eventually(page, address, /page\.cache_events=3/);
  await eventually(page, () => next.isDisabled(), true);
  assert.equal(JSON.parse((await saved(page, "cache_events", "JSON")).text).length, 1200);
});

test("caches show each hit and miss, and what scores were compared with", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=caches" });
  const text = await page.locator(".cache").textContent();
  for (const part of ["teacache", "hits 6", "misses 22", "256.0 MiB"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  assert.deepEqual(await rowsOf(page, "caches"), [["teacache", "28", "6", "22", "0", "21.4 %", "256.0 MiB"]]);
  const ticks = await page.locator(".strip").first().locator("path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d").split("M").length - 1));
  assert.deepEqual(ticks, [6, 22]);
});

test("a finding has its figures, what to do, what that saves, and its place", async () => {
  const { page } = await open(browser, rich());
  const cards = await page.locator(".finding").allTextContents();
  for (const part of ["high", "42.0 %", "limit 20.0 %", "Do less of it", "about 900 ms, at most 1.200 s", "in block", "2.000 to 2.900 s"]) {
    assert.ok(cards[0].includes(part), `${part} in ${cards[0]}`);
  }
  assert.ok(!cards[2].includes("evidence"));
});

test("each check that was made, and each that could not be, is folded below the findings", async () => {
  const { page } = await open(browser, drawn("video"));
  const table = page.locator('table[aria-labelledby="table-checks"]');
  assert.equal(await table.isVisible(), false);
  await page.locator("summary", { hasText: "All checks" }).click();
  const { rows } = tableOf(modelOf(drawn("video")), "checks");
  await eventually(page, () => table.isVisible(), true);
  assert.ok(rows.length > 20);
});

test("the system view has what was asked for, the versions and what could not be read", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=system" });
  const text = await page.locator("main").textContent();
  for (const part of ["python.version", "3.12.4", "prompt ready", "tokens=77"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test("values of any length are cut until all of them is asked for, and a name of nothing is said to be none", async () => {
  const path = edited(drawn("video"), "long-values", (_, model) => {
    model.contents.tabs[0].blocks.push({ kind: "text", content: "x".repeat(10_000) });
    const { rows } = tableOf(model, "sections");
    rows[0][0] = { unit: "nested", value: [0, ""] };
    rows[1][0] = { unit: "nested", value: [0, " \u2800"] };
  });
  const { page, problems } = await open(browser, path);
  assert.ok(!(await page.locator("main").textContent()).includes("x".repeat(700)));
  await page.getByRole("button", { name: /^show all 10/ }).first().click();
  await says(page.locator("main"), /x{10000}/);
  await page.getByRole("tab", { name: "Sections" }).click();
  await eventually(page, async () => (await column(page, "sections", 1)).slice(0, 2), ["(no name)", "(no name)"]);
  assert.deepEqual(problems, []);
});

test("sessions stand with their tags", async () => {
  const { page } = await open(browser, drawn("video"), { hash: "#view=sessions" });
  const [session] = await rowsOf(page, "sessions");
  assert.equal(session[0], "generation");
  assert.equal(session[1], "1.500 s");
  assert.ok(session.some((cell) => cell.includes("model=self_forcing")), session);
});
