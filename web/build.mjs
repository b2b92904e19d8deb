// Bundles src/ into the one page that marey-report carries.
//
//   node build.mjs            writes the asset
//   node build.mjs --check    fails when the committed asset is not what the source gives, or is too large
//
// The program is compressed, because every report carries it; src/loader.ts unpacks it. The policy of the page allows it by the hash of
// what is unpacked. Compression differs between versions of node, so --check compares what comes out of it.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const ASSET = new URL("../crates/marey-report/assets/page.html", import.meta.url);
const MAX_BYTES = 150_000;

const bundled = await build({
  entryPoints: { early: "src/early.ts", loader: "src/loader.ts", program: "src/main.tsx", style: "src/style.css" },
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
});
const [early, loader, program, style] = ["early.js", "loader.js", "program.js", "style.css"].map((ending) => {
  const file = bundled.outputFiles.find(({ path }) => path.endsWith(ending));
  return file.text.trim();
});
if (/<\/(script|style)|<!--/i.test(early + loader + style)) {
  throw new Error("the bundle holds text that would end its own element");
}

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const licences = Object.keys(dependencies).map((name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const text = readFileSync(new URL("LICENSE", folder), "utf8").trim();
  return `${name} ${version}\n\n${text}`;
});
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${[early, loader, program].map(hash).join(" ")}`,
  `style-src ${hash(style)}`,
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// What stands in double braces marey-report fills in; see html/page.rs.
const page = (packed) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Marey report</title>
<!--
This page holds:

${licences.join("\n\n")}
-->
<style>${style}</style>
<script>${early}</script>
</head>
<body>
<div id="page"><noscript>This report needs JavaScript. It loads nothing from anywhere.</noscript></div>
<script type="application/octet-stream" id="marey-program">${packed}</script>
<script type="application/octet-stream" id="marey-model">{{model}}</script>
<script type="application/octet-stream" id="marey-columns">{{columns}}</script>
<script>${loader}</script>
</body>
</html>
`;

const isCheck = process.argv.includes("--check");
const committed = isCheck ? readFileSync(ASSET, "utf8") : "";
const packed = isCheck
  ? (/id="marey-program">([^<]*)</.exec(committed)?.[1] ?? "")
  : gzipSync(program, { level: 9 }).toString("base64");
const built = page(packed);
if (isCheck && (built !== committed || gunzipSync(Buffer.from(packed, "base64")).toString() !== program)) {
  throw new Error("the committed asset is not what its source gives: run `make web` and commit it");
}
const bytes = Buffer.byteLength(built);
if (bytes > MAX_BYTES) {
  throw new Error(`the asset has ${bytes} bytes, more than ${MAX_BYTES}`);
}
if (!isCheck) {
  writeFileSync(ASSET, built);
}
console.log(`page.html: ${bytes} bytes, the program in it unpacked ${program.length}`);
