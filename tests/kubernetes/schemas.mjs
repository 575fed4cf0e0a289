// Objects of Kubernetes (a JSON list on standard input) against its schemas, by npm's kubernetes-models: types, values and
// required fields by its validators, and by its type declarations that there are no fields that Kubernetes does not know,
// which it would drop. A line for each mistake, and what was not looked at; exit code 1 if there are mistakes.
// usage: node schemas.mjs FOLDER          FOLDER has node_modules

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = path.join(process.argv[2], "node_modules");

// Where the model of an object is; nothing: there is none (Kueue's).
function folderOf(apiVersion) {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return ["kubernetes-models", "@kubernetes-models/prometheus-operator"]
    .map((name) => path.join(modules, name, group, version))
    .find(existsSync);
}

const declarations = new Map();

// Of a declaration file: what it imports, by name, and the members of its interface with their types.
function declarationOf(file) {
  if (!declarations.has(file)) {
    const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    const imports = new Map();
    for (const [, names, from] of text.matchAll(/import \{ ([^}]*) \} from "([^"]*)"/g)) {
      for (const name of names.split(", ")) imports.set(name, from);
    }
    const body = text.match(/export interface \w+ (?:extends \w+ )?\{\n([\s\S]*?)\n\}/)?.[1] ?? "";
    declarations.set(file, { imports, body });
  }
  return declarations.get(file);
}

function fileOf(from, name) {
  if (name.startsWith(".")) return path.resolve(path.dirname(from), name.replace(/\.js$/, "") + ".d.ts");
  return path.join(modules, name) + ".d.ts";
}

// Members of a body of an interface, or of `{ ... }` in one: name and type, which may span lines.
function membersOf(body) {
  const members = new Map();
  let depth = 0;
  let current = "";
  for (const line of body.split("\n")) {
    current += line.trim() + "\n";
    depth += (line.match(/[{<(]/g) ?? []).length - (line.match(/[}>)]/g) ?? []).length;
    if (depth === 0 && current.trim()) {
      const found = current.trim().match(/^"?([^"?:]+)"?\??: ([\s\S]*?);?\s*$/);
      if (found) members.set(found[1], found[2]);
      current = "";
    }
  }
  return members;
}

function* unknownFields(value, type, file, at) {
  if (Array.isArray(value)) {
    const element = type.match(/^Array<([\s\S]*)>$/)?.[1] ?? type;
    for (const [i, each] of value.entries()) yield* unknownFields(each, element, file, `${at}/${i}`);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  let body;
  let from = file;
  const name = type.match(/\bI\w+\b/)?.[0];
  if (type.startsWith("{")) {
    body = type.slice(1, type.lastIndexOf("}"));
  } else if (name && declarationOf(file).imports.has(name)) {
    from = fileOf(file, declarationOf(file).imports.get(name));
    if (!existsSync(from)) throw new Error(`${name}: no declaration at ${from}`);
    body = declarationOf(from).body;
  } else {
    return; // any object may stand there
  }
  const members = membersOf(body);
  if ([...members.keys()].some((key) => key.startsWith("["))) return;
  for (const [key, member] of Object.entries(value)) {
    if (!members.has(key)) yield `${at}/${key}: Kubernetes knows no such field`;
    else yield* unknownFields(member, members.get(key).replace(/ \| null/g, ""), from, `${at}/${key}`);
  }
}

async function faultsOf(object) {
  const folder = folderOf(object.apiVersion);
  if (!folder) return null;
  const file = path.join(folder, object.kind);
  if (!existsSync(file + ".js")) return [`${object.apiVersion} has no ${object.kind}`];
  const faults = [];
  const Model = (await import(pathToFileURL(file + ".js")))[object.kind];
  try {
    new Model(object).validate();
  } catch (error) {
    faults.push(error.message);
  }
  const members = membersOf(declarationOf(file + ".d.ts").body);
  for (const [key, value] of Object.entries(object)) {
    if (!members.has(key)) faults.push(`/${key}: Kubernetes knows no such field`);
    else faults.push(...unknownFields(value, members.get(key), file + ".d.ts", `/${key}`));
  }
  return faults;
}

let failed = false;
const passedOver = new Set();
const objects = JSON.parse(readFileSync(0, "utf8"));
for (const object of objects) {
  const faults = await faultsOf(object);
  if (faults === null) passedOver.add(`${object.apiVersion} ${object.kind}`);
  for (const fault of faults ?? []) {
    failed = true;
    console.log(`${object.kind} ${object.metadata?.name}: ${fault}`);
  }
}
if (passedOver.size > 0) console.log(`no schema: ${[...passedOver].join(", ")}`);
process.exit(failed ? 1 : 0);
