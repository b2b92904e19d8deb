// Makes the types of what a page carries, model/page.ts, of their schema, which `make schemas` writes.
//
//   node types.mjs            writes the types
//   node types.mjs --check    fails when the committed ones are not what the schema gives

import { readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("model/page.schema.json", import.meta.url);
const TYPES = new URL("model/page.ts", import.meta.url);

const made = await compile(JSON.parse(readFileSync(SCHEMA, "utf8")), "Model", {
  additionalProperties: false,
  bannerComment: "// What a page carries beside its columns. Made by types.mjs: `make web`.",
  style: { printWidth: 150 },
});
if (!process.argv.includes("--check")) {
  writeFileSync(TYPES, made);
} else if (readFileSync(TYPES, "utf8") !== made) {
  throw new Error("the committed types are not what the schema gives: run `make web` and commit them");
}
