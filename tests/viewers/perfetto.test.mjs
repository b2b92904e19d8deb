// Perfetto's own viewer and its engine read what was written.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import { blank, built, drawn, folder, launch, perfettoViewer, serve } from "./browser.mjs";

let browser;
let site;
before(async () => {
  site = await serve(perfettoViewer());
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await site?.end();
});

/** Opens a link of the viewer, waits until its trace is there, and returns what asks its engine. */
async function opened(link) {
  const { context, page } = await blank(browser, { bypassCSP: true, serviceWorkers: "block" });
  await page.goto(link);
  await page.waitForFunction(() => globalThis.app?.trace !== undefined);
  const rows = (sql) =>
    page.evaluate(async (text) => {
      const result = await globalThis.app.trace.engine.query(text);
      const columns = result.columns();
      const found = [];
      for (const row = result.iter({}); row.valid(); row.next()) {
        found.push(
          columns.map((column) => {
            const value = row.get(column);
            return typeof value === "bigint" ? Number(value) : value;
          }),
        );
      }
      return found;
    }, sql);
  return { context, page, rows };
}

const traceOf = (kind, format = "perfetto", ending = "pftrace") => `${site.address}/#!/?url=${site.address}/traces/${basename(drawn(format, kind, ending))}`;

/** What the engine counts as an error of the trace. */
const ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0";

test("what the drawn run has is in the engine, and nothing was wrong", async () => {
  const { context, rows } = await opened(traceOf("known"));
  assert.deepEqual(await rows(ERRORS), []);
  const slices = await rows(`
    select s.name, s.ts - 1795000000000000000, s.dur, s.depth, coalesce(t.name, thread.name)
    from slice s join track t on s.track_id = t.id
    left join thread_track tt on tt.id = t.id left join thread using (utid)
    where s.dur > 0 or s.name = 'mark' order by s.ts, s.dur desc`);
  assert.deepEqual(slices, [
    ["clip", 50000, 500000, 0, "sessions"],
    ["generate", 100000, 400000, 0, "main"],
    ["denoising_step", 110000, 90000, 1, "main"],
    ["fetch", 120000, 140000, 0, "main: tasks 1"],
    ["denoising_step", 130000, 100000, 0, "GPU 0 stream 7"],
    ["fetch", 150000, 30000, 0, "main: tasks 2"],
    ["prof", 205000, 100000, 0, "profiler windows"],
    ["denoising_step", 210000, 90000, 1, "main"],
    ["denoising_step", 240000, 80000, 0, "GPU 0 stream 7"],
    ["decode", 300000, 200000, 1, "main"],
    ["decode", 305000, 10000, 0, "GPU 0 stream 20"],
    ["encode", 310000, 140000, 0, "decoder"],
    ["mark", 450000, 0, 0, "decoder"],
  ]);
  const flows = await rows(`
    select a.name, (a.ts - 1795000000000000000) / 1000, (b.ts - 1795000000000000000) / 1000
    from flow join slice a on a.id = slice_out join slice b on b.id = slice_in order by a.ts`);
  assert.deepEqual(flows, [
    ["denoising_step", 110, 130],
    ["denoising_step", 210, 240],
    ["decode", 300, 305],
  ]);
  const counters = await rows(`
    select t.name, t.unit, group_concat(c.value, ' ') from counter c join counter_track t on c.track_id = t.id
    group by t.name, t.unit order by t.name`);
  assert.deepEqual(counters, [
    ["gpu.power GPU-5f", "W", "90.0 310.5 120.0"],
    ["loss", "count", "1.5 0.5"],
    ["memory.allocated cuda:0", "bytes", "1073741824.0 3221225472.0"],
    ["memory.reserved cuda:0", "bytes", "2147483648.0 4294967296.0"],
  ]);
  const args = await rows(`
    select s.name, a.key, a.display_value from slice s join args a using (arg_set_id)
    where s.name in ('prompt ready', 'hit', 'decode') and a.key like 'debug.%' order by s.ts, a.key`);
  assert.deepEqual(args, [
    ["prompt ready", "debug.stream", "99"],
    ["prompt ready", "debug.tokens", "77"],
    ["hit", "debug.score", "0.04"],
    ["hit", "debug.step", "1"],
    ["hit", "debug.threshold", "0.05"],
    ["decode", "debug.left by an error", "true"],
    ["decode", "debug.device", "0"],
    ["decode", "debug.may be off by (ns)", "500"],
    ["decode", "debug.queue delay (ns)", "5000"],
    ["decode", "debug.stream", "20"],
  ]);
  await context.close();
});

test("two processes of one number stay apart, in the order of their ranks", async () => {
  const { context, rows } = await opened(traceOf("job"));
  assert.deepEqual(await rows(ERRORS), []);
  const processes = await rows("select pid, name from process where pid > 0 order by upid");
  assert.deepEqual(processes, [
    [4711, "rank 0: generate.py"],
    [4194305, "rank 1: generate.py"],
  ]);
  assert.deepEqual(await rows("select count(*), count(distinct track_id) from slice where dur > 0"), [[24, 16]]);
  const apart = await rows("select max(ts) - min(ts) from slice where name = 'generate'");
  assert.deepEqual(apart, [[1_000_000]]);
  await context.close();
});

// Sections, sessions, work on GPUs, events and decisions of caches, counted in the drawings.
for (const [kind, n] of [
  ["video", 137 + 1 + 1 + 28],
  ["hostile", 137 + 1 + 1 + 28],
  ["extremes", 25 + 12 + 1 + 12],
  ["tasks", 100_000],
  ["threads", 100_000],
]) {
  test(`the engine takes every slice of the run ${kind}`, async () => {
    const { context, rows } = await opened(traceOf(kind));
    assert.deepEqual(await rows(ERRORS), []);
    assert.deepEqual(await rows("select count(*) from slice"), [[n]]);
    await context.close();
  });
}

test("Chrome JSON gives the engine the same slices, arrows and counters", async () => {
  const { context, rows } = await opened(traceOf("known", "chrome", "json"));
  assert.deepEqual(await rows(ERRORS), []);
  assert.deepEqual(await rows("select count(*) from slice where dur > 0 or name = 'mark'"), [[13]]);
  assert.deepEqual(await rows("select count(*) from flow"), [[3]]);
  assert.deepEqual(await rows("select count(*) from counter"), [[9]]);
  await context.close();
});

test("`marey view` opens a recording in the viewer and ends when the viewer has it", async () => {
  const output = join(folder, "demo");
  const env = { ...process.env, MAREY_RING_DIR: join(folder, "rings") };
  execFileSync(built, ["marey", "demo", "--output", output], { env, stdio: ["ignore", "ignore", "inherit"] });
  const command = ["marey", "view", "--no-browser", "--port", "0", "--perfetto-ui", site.address, output];
  const view = spawn(built, command, { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const ended = new Promise((resolve) => view.once("exit", resolve));
    const without = ended.then((code) => assert.fail(`it ended with ${code} before it gave a link`));
    const [link] = await Promise.race([once(createInterface({ input: view.stdout }), "line"), without]);
    const { context, rows } = await opened(link);
    assert.equal(await ended, 0);
    assert.deepEqual(await rows(ERRORS), []);
    assert.deepEqual(await rows("select count(*) from slice where name = 'denoising_step'"), [[12]]);
    await context.close();
  } finally {
    // One that is left behind would keep this program from ending.
    view.kill();
  }
});
