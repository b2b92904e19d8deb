// Bundles src/ into the one page that marey-report carries. The same source gives the same bytes.
//
//   node build.mjs            writes the asset
//   node build.mjs --check    fails when the committed asset is not what the source gives, or is too large

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const ASSET = new URL("../crates/marey-report/assets/page.html", import.meta.url);
const MAX_BYTES = 150_000;

const bundled = await build({
  entryPoints: { early: "src/early.ts", unpack: "src/unpack.ts", page: "src/main.tsx", style: "src/style.css" },
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
const [early, unpack, script, style] = ["early.js", "unpack.js", "page.js", "style.css"].map((ending) => {
  const file = bundled.outputFiles.find(({ path }) => path.endsWith(ending));
  return file.text.trim();
});
if (/<\/(script|style)|<!--/i.test(early + unpack + style)) {
  throw new Error("the bundle holds text that would end its own element");
}

const licences = ["preact"].map((name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const text = readFileSync(new URL("LICENSE", folder), "utf8").trim();
  return `${name} ${version}\n\n${text}`;
});
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(early)} ${hash(unpack)} ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * A text compressed, in letters, digits, `+`, `/` and `=`. Not every zlib gives the same bytes: those that the asset has stay as long as
 * they mean the same.
 */
function packed(text) {
  const found = existsSync(ASSET) && readFileSync(ASSET, "utf8").match(/id="marey-script">([^<]*)/)?.[1];
  return found && unpacked(found) === text ? found : gzipSync(text, { level: 9 }).toString("base64");
}

function unpacked(base64) {
  try {
    return gunzipSync(Buffer.from(base64, "base64")).toString();
  } catch {
    // A merge may have left anything there.
    return null;
  }
}

// The two lines of braces are what marey-report fills in; see html/page.rs.
const page = `<!doctype html>
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
<script type="application/octet-stream" id="marey-model">{{model}}</script>
<script type="application/octet-stream" id="marey-columns">{{columns}}</script>
<script type="application/octet-stream" id="marey-script">${packed(script)}</script>
<script>${unpack}</script>
</body>
</html>
`;

const bytes = Buffer.byteLength(page);
if (bytes > MAX_BYTES) {
  throw new Error(`the asset has ${bytes} bytes, more than ${MAX_BYTES}`);
}
if (process.argv.includes("--check")) {
  if (readFileSync(ASSET, "utf8") !== page) {
    throw new Error("the committed asset is not what its source gives: run `make web` and commit it");
  }
} else {
  writeFileSync(ASSET, page);
}
console.log(`page.html: ${bytes} bytes`);
