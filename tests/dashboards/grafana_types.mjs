// Holds dashboard JSON against the types of @grafana/grafana-foundation-sdk, which are generated from Grafana's own schemas:
// every key must be known there, every required one there, every value of the right type, and of an enumeration's values.
//
//   node grafana_types.mjs FOLDER_OF_NODE_MODULES BOARD.json...
//
// Prints what is wrong, a line each, and ends with 1 if anything is.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const [modules, ...boards] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const ts = require('typescript');
const sdk = path.join(path.resolve(modules), '@grafana', 'grafana-foundation-sdk', 'dist');

const PACKAGES = ['dashboard', 'timeseries', 'stat', 'heatmap', 'bargauge', 'table', 'common', 'prometheus'];
const files = PACKAGES.map((name) => path.join(sdk, name, 'types.gen.d.ts'));
const program = ts.createProgram(files, { strict: true, skipLibCheck: true });
const checker = program.getTypeChecker();

function typeOf(name, type) {
  const source = program.getSourceFile(path.join(sdk, name, 'types.gen.d.ts'));
  const found = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).find((one) => one.name === type);
  return found && checker.getDeclaredTypeOfSymbol(found);
}

const wrong = [];
let looked = 0;

// The reasons why a value is not of a type; none if it is.
function reasons(value, type, at) {
  looked += 1;
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return [];
  if (type.isUnion()) {
    const ways = type.types.filter((one) => !(one.flags & ts.TypeFlags.Undefined));
    const each = ways.map((one) => reasons(value, one, at));
    return each.some((one) => one.length === 0) ? [] : each.sort((a, b) => a.length - b.length)[0];
  }
  if (type.isLiteral()) return value === type.value ? [] : [`${at}: ${JSON.stringify(value)} is no known value`];
  if (type.flags & ts.TypeFlags.BooleanLiteral) return String(value) === type.intrinsicName ? [] : [`${at}: not ${type.intrinsicName}`];
  const simple = [[ts.TypeFlags.String, 'string'], [ts.TypeFlags.Number, 'number'], [ts.TypeFlags.Boolean, 'boolean']];
  for (const [flag, name] of simple) {
    if (type.flags & flag) return typeof value === name ? [] : [`${at}: ${JSON.stringify(value)} is no ${name}`];
  }
  if (type.flags & ts.TypeFlags.Null) return value === null ? [] : [`${at}: not null`];
  if (checker.isArrayType(type)) {
    if (!Array.isArray(value)) return [`${at}: no list`];
    const element = checker.getTypeArguments(type)[0];
    return value.flatMap((one, place) => reasons(one, element, `${at}[${place}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${at}: no object`];
  return reasonsOfObject(value, type, at);
}

function reasonsOfObject(value, type, at) {
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  const properties = new Map(checker.getPropertiesOfType(type).filter((one) => !one.name.startsWith('_implements'))
    .map((one) => [one.name, one]));
  if (properties.size === 0 && !index) return [];  // a query of any data source: looked at below
  const found = [];
  for (const [key, below] of Object.entries(value)) {
    const property = properties.get(key);
    if (property) found.push(...reasons(below, checker.getTypeOfSymbol(property), `${at}.${key}`));
    else if (index) found.push(...reasons(below, index, `${at}.${key}`));
    else found.push(`${at}.${key}: no such key`);
  }
  for (const [key, property] of properties) {
    if (!(key in value) && !(property.flags & ts.SymbolFlags.Optional)) found.push(`${at}.${key}: missing`);
  }
  return found;
}

function check(value, name, type, at) {
  const wanted = typeOf(name, type);
  if (!wanted) throw new Error(`${name} has no type ${type}`);
  wrong.push(...reasons(value, wanted, at));
}

for (const file of boards) {
  const board = JSON.parse(readFileSync(file, 'utf8'));
  const name = path.basename(file);
  check(board, 'dashboard', 'Dashboard', name);
  for (const panel of board.panels.filter((one) => one.type !== 'row')) {
    const at = `${name}: ${panel.title}`;
    check(panel.options, panel.type, 'Options', `${at}: options`);
    if (typeOf(panel.type, 'FieldConfig')) check(panel.fieldConfig.defaults.custom, panel.type, 'FieldConfig', `${at}: custom`);
    else if (panel.type === 'timeseries') check(panel.fieldConfig.defaults.custom, 'common', 'GraphFieldConfig', `${at}: custom`);
    else if (panel.type === 'table') check(panel.fieldConfig.defaults.custom, 'common', 'TableFieldOptions', `${at}: custom`);
    for (const target of panel.targets) check(target, 'prometheus', 'Dataquery', `${at}: query ${target.refId}`);
  }
}
console.log(`${looked} values of ${boards.length} boards looked at`);
for (const line of wrong) console.log(line);
process.exit(wrong.length ? 1 : 0);
