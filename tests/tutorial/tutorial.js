// Walks docs/tutorial.md in a folder as a reader would. A block ```json NAME is put into the file NAME, section by
// section; a block ```sh is run there; the lines of a block ```text are in what it printed, in this order.
// Usage: node tutorial.js TUTORIAL PROGRAM FOLDER
'use strict';
const {spawnSync} = require('child_process');
const fs = require('fs');
const path = require('path');

const [tutorial, program, folder] = process.argv.slice(2).map((a) => path.resolve(a));
fs.rmSync(folder, {recursive: true, force: true});
fs.mkdirSync(path.join(folder, '.bin'), {recursive: true});
fs.symlinkSync(program, path.join(folder, '.bin/bogie'));
const text = fs.readFileSync(tutorial, 'utf8');
const pages = spawnSync(program, ['run', 'equations:pendulum', '--t-end', '0.01', '--quiet', '--html', path.join(folder, '.page.html')]).status === 0;

const isObject = (x) => x && typeof x === 'object' && !Array.isArray(x);
const merge = (into, what) => {
    for (const [key, value] of Object.entries(what))
        if (isObject(value) && isObject(into[key])) merge(into[key], value);
        else into[key] = value;
    return into;
};
const fail = (step, why) => {
    console.log(`FAIL ${step}: ${why}`);
    process.exit(1);
};

let step = '', printed = '', count = 0;
for (const [, title, kind, name, body] of text.matchAll(/^## (.*)$|^```(json|sh|text) ?(.*)\n([^]*?)^```$/gm)) {
    if (title) {
        step = title;
        count++;
    } else if (kind === 'json') {
        const file = path.join(folder, name);
        const there = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
        fs.writeFileSync(file, JSON.stringify(merge(there, JSON.parse(body)), null, 2));
    } else if (kind === 'sh') {
        const commands = pages ? body : body.replace(/ --html \S+/g, '').replace(/^bogie report .*$/gm, '');
        const run = spawnSync('sh', ['-ec', commands], {
            cwd: folder, encoding: 'utf8', env: {...process.env, PATH: `${folder}/.bin:${process.env.PATH}`}});
        printed = run.stderr + run.stdout;
        if (run.status !== 0) fail(step, `exit code ${run.status}\n${printed}`);
    } else {
        let from = 0;
        for (const line of body.trimEnd().split('\n')) {
            if (!pages && /\.html/.test(line)) continue;
            from = printed.indexOf(line.trim(), from);
            if (from < 0) fail(step, `'${line}' was not printed\n${printed}`);
        }
    }
}
console.log(`${count} steps passed`);
if (count !== 10) fail(step, 'there are ten');
