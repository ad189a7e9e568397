// What docs/how-to.md says a model shows is in it, and the link beside it leads somewhere; and everything that
// docs/model.schema.json lets outputs, plots, views, looks, forces and tyres be is in some model that comes with Bogie.
// Usage: node shown.js SOURCE
'use strict';
const fs = require('fs');
const path = require('path');

const root = path.resolve(process.argv[2]);
const read = (...names) => fs.readFileSync(path.join(root, ...names), 'utf8');
let failures = 0, rows = 0;
const fail = (text) => { failures++; console.log(`FAIL ${text}`); };

// the table
const anchorsOf = (text) => [...text.matchAll(/^#+ (.*)$/gm)].map((m) => m[1].toLowerCase().replace(/[^\p{L}\d\s-]/gu, '').replace(/\s/g, '-'));
for (const [, what, written, page, anchor, models] of read('docs/how-to.md').matchAll(/^\| (.+?) \| `(.+?)` \| \[.+?\]\(([^)#]*)#(.+?)\) \| (.+) \|$/gm)) {
    rows++;
    if (!anchorsOf(read('docs', page || 'how-to.md')).includes(anchor)) fail(`${what}: no '${anchor}' in ${page}`);
    for (const [, name, file] of models.matchAll(/\[(.+?)\]\((.+?)\)/g)) {
        if (path.basename(file, '.json') !== name) fail(`${what}: ${name} is called ${file}`);
        if (!read('docs', file).replace(/\s+/g, ' ').includes(written)) fail(`${what}: ${name} has no ${written}`);
    }
}
if (rows < 25) fail(`the table has ${rows} rows`);

// what models use, each thing as a text such as 'force limit'
const used = new Set();
const members = (of, x) => Object.keys(x ?? {}).forEach((key) => used.add(`${of} ${key}`));
const each = (x, act) => Object.values(x ?? {}).forEach((v) => v && typeof v === 'object' && act(v));
const walk = (model) => {
    each(model.forces, (f) => used.add(`force ${f.type}`));
    each(model.tyres, (f) => used.add(`tyre ${f.type}`));
    each(model.bodies, (b) => members('look', b.look));
    each(model.outputs, (o) => { members('output', o); used.add(`component ${o.component}`); });
    members('view', model.view);
    each(model.plots, (p) => Array.isArray(p) || members('plot', p));
    each(model.parts, walk);
};
for (const folder of ['models', 'models/templates'])
    for (const name of fs.readdirSync(path.join(root, folder)).filter((file) => file.endsWith('.json')))
        walk(JSON.parse(read(folder, name)));

// what there is
const schema = JSON.parse(read('docs/model.schema.json')), definitions = schema.$defs;
const objects = (x) => (x.anyOf ?? x.oneOf ?? [x]).filter((y) => y.properties);
const wanted = [
    ...['force', 'tyre'].flatMap((kind) => objects(definitions[kind]).map((x) => `${kind} ${x.properties.type.const ?? x.properties.type.enum?.[0]}`)),
    ...objects(definitions.output).flatMap((x) => [`output ${x.required?.[0]}`, ...(/wheel|angles/.test(x.required?.[0]) ? x.properties.component.enum.map((c) => `component ${c}`) : [])]),
    ...Object.keys(definitions.look.properties).map((key) => `look ${key}`),
    ...Object.keys(schema.properties.view.properties).map((key) => `view ${key}`),
    ...Object.keys(objects(schema.properties.plots.items)[0].properties).map((key) => `plot ${key}`),
].filter((what) => !what.endsWith(' comment'));
const nowhere = ['force force', 'tyre ring-planar', 'output angular_acceleration']; // shown by docs/forces.md and tests alone
if (wanted.length < 50) fail(`the schema is read wrongly: ${wanted}`);
for (const what of wanted)
    if (used.has(what) === nowhere.includes(what)) fail(`'${what}' is ${used.has(what) ? 'shown after all' : 'in no model that comes with Bogie'}`);
console.log(`${rows} rows, ${wanted.length} things`);
process.exit(failures ? 1 : 0);
