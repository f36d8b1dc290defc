/** Rules for files: length, columns, names, folders, and marks of unfinished work. */

import t from 'tap'
import { checkRules, isCode, isLock, isSource, isTest, linesWith, type Rule } from './rules.js'

/** A doc comment at the beginning of a file, whose text ends with a full stop. */
const OPENING = /^\/\*\*\s(?:(?!\*\/).)*\.\s+\*\/\n/s

const opening: Rule = {
  name: 'a file begins with a doc comment that says what it is',
  advice: 'Begin with a doc comment of one or two sentences that ends with a full stop.',
  find: (files) =>
    files
      .filter(isSource)
      .filter(({ text }) => !OPENING.test(text))
      .map(({ path }) => path),
  breaks: [
    { path: 'cgi/process/run.ts', text: 'export {}\n' },
    { path: 'cgi/process/run.ts', text: "import 'node:fs'\n/** Late. */\n" },
    { path: 'cgi/process/run.ts', text: '/** No stop */\n/** Another. */\n' },
    { path: 'cgi/process/run.ts', text: '// Runs programs.\n' },
  ],
}

const LINES_MAX = 400
const LINES_OF_TEST_MAX = 600

const length: Rule = {
  name: `a file has at most ${LINES_MAX} lines, a test ${LINES_OF_TEST_MAX}`,
  advice: 'Split it, so that each part has one subject.',
  find: (files) =>
    files
      .filter(isCode)
      .filter((file) => {
        const lines = file.text.split('\n').length - 1
        return lines > (isTest(file) ? LINES_OF_TEST_MAX : LINES_MAX)
      })
      .map(({ path }) => path),
  breaks: [
    { path: 'sql/accounts/users.ts', text: '\n'.repeat(401) },
    { path: 'test/sql/accounts/users.test.ts', text: '\n'.repeat(601) },
  ],
}

const columns: Rule = {
  name: 'a comment has at most 100 columns, as has the code that the formatter breaks',
  advice: 'Break the line, or shorten the sentence.',
  find: (files) => linesWith(files.filter(isCode), /^(?=\s*(?:\/\*|\*|\/\/|#)).{101}/u),
  breaks: [
    { path: 'sql/accounts/users.ts', text: `/** ${'x'.repeat(100)} */` },
    { path: 'scripts/start', text: `# ${'x'.repeat(100)}` },
  ],
}

const names: Rule = {
  name: 'no file is called utils or index',
  advice: 'Name the file for what it does.',
  find: (files) =>
    files
      .map(({ path }) => path)
      .filter((path) => /(?:^|\/)(?:utils?|helpers?|common|misc|index)\.ts$/.test(path)),
  breaks: [
    { path: 'cgi/utils.ts', text: '' },
    { path: 'gateway/api/index.ts', text: '' },
  ],
}

const OBJECT = /^gateway\/objects\/([a-z]+)\/([a-z]+)-object\.ts$/

const nouns: Rule = {
  name: 'a noun that has an object has tables and operations in files of its name',
  advice: 'Name the files for the noun: `sql/pulls/pulls`, `gateway/api/pulls/pulls`.',
  find: (files) => {
    const paths = new Set(files.map(({ path }) => path))
    return [...paths].flatMap((path) => {
      const [, noun = '', thing = ''] = OBJECT.exec(path) ?? []
      const isNamed = [`${thing}s`, thing.replace(/y$/, 'ies')].includes(noun)
      if (thing === '' || !isNamed) return []
      const others = [`sql/${noun}/${noun}.ts`, `gateway/api/${noun}/${noun}.ts`]
      return others.every((other) => paths.has(other)) ? [] : [path]
    })
  },
  breaks: [{ path: 'gateway/objects/toys/toy-object.ts', text: '' }],
}

const spreads: Rule = {
  name: 'no literal is spread into another one',
  advice: 'Write the properties or the elements out.',
  find: (files) => linesWith(files.filter(isSource), /\.\.\.(?:\{[^{}]*\}|\[[^[\]]*\])\s*[,\])}]/),
  breaks: [
    { path: 'sql/accounts/users.ts', text: `const user = { ${'...'}{ id, name }, isAdmin }` },
    { path: 'sql/accounts/users.ts', text: `const ids = [${'...'}[1, 2], 3]` },
  ],
}

const FOLDERS = ['.ci', 'cgi', 'conf', 'docs', 'gateway', 'registry', 'scripts', 'sql', 'test']

const folders: Rule = {
  name: 'code is in no other folders than those of the design',
  advice: `Put it into one of ${FOLDERS.join(', ')}.`,
  find: (files) =>
    files
      .map(({ path }) => path)
      .filter((path) => path.includes('/') && !FOLDERS.includes(path.slice(0, path.indexOf('/')))),
  breaks: [{ path: 'src/main.ts', text: '' }],
}

/** Split, so that the rule does not find itself. */
const UNFINISHED = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK']

const unfinished: Rule = {
  name: 'no comment marks unfinished work',
  advice: 'Finish the work, or open an issue and remove the mark.',
  find: (files) =>
    linesWith(
      files.filter((file) => !isLock(file)),
      new RegExp(`\\b(?:${UNFINISHED.join('|')})\\b`),
    ),
  breaks: UNFINISHED.map((word) => ({ path: 'cgi/process/run.ts', text: `// ${word}: later\n` })),
}

const ELSEWHERE = ['registry.npm' + 'js.org', 'registry.yarn' + 'pkg.com', 'npm' + 'mirror.com']
const MACHINES = ['/wo' + 'rk/', '/ro' + 'ot/', '/tmp/ho' + 'use', '/ho' + 'me/']

const places: Rule = {
  name: 'no file names a package registry or a folder of one machine',
  advice: 'Leave the registry to npm’s own configuration, and paths to the settings.',
  find: (files) =>
    linesWith(
      files,
      new RegExp(
        `${ELSEWHERE.join('|').replaceAll('.', '\\.')}|(?<![\\w.*}-])(?:${MACHINES.join('|')})`,
      ),
    ),
  breaks: [...ELSEWHERE, ...MACHINES].map((place) => ({
    path: 'package-lock.json',
    text: `"resolved": "${place}x"`,
  })),
}

const [ONLY, SKIP, LATER] = ['on' + 'ly', 'sk' + 'ip', 'to' + 'do']

const whole: Rule = {
  name: 'no test is skipped',
  advice: 'Make the test pass or delete it. A missing program is a failure.',
  find: (files) => {
    const words = `(?:${ONLY}|${SKIP}|${LATER})`
    const pattern = new RegExp(`\\bt\\w*\\.${words}\\b|[{,]\\s*${words}\\s*[:,}]`)
    return linesWith(files.filter(isTest).filter(isSource), pattern)
  },
  breaks: [
    { path: 'test/cgi/process/run.test.ts', text: `t.${SKIP}('later', async () => {})\n` },
    { path: 'test/cgi/process/run.test.ts', text: `t.${ONLY}('this', async () => {})\n` },
    {
      path: 'test/cgi/process/run.test.ts',
      text: `t.test('x', { ${SKIP}: !isRoot }, async () => {})\n`,
    },
    { path: 'test/cgi/process/run.test.ts', text: `t.test('x', { timeout: 1, ${LATER}: true })\n` },
  ],
}

checkRules(t, [opening, length, columns, names, nouns, spreads, folders, unfinished, places, whole])
