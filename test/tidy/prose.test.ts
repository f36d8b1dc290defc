/** Rules for the language of the project: how comments begin, and words that are not used. */

import t from 'tap'
import { checkRules, isLock, isSource, type ProjectFile, type Rule } from './rules.js'

/** Words that begin a clause instead of a noun phrase or a verb. */
const CLAUSE_WORDS = new RegExp(
  `^(?:${[
    'What Who Whom Whose Where Whether When Which That To Of As How By From So One Those These This',
    'They It He She We You In On At For With Without Until If Once Since Only Not Nothing Nobody',
    'Somebody Whoever There Then Also Here Because After Before Like Than And But Or Is Are Was Were',
    'Does Has Had May Must Can Will Should Would Under Over Between Beside Beyond Within Out Up Down',
  ]
    .join(' ')
    .replaceAll(' ', '|')})\\b(?!-)`,
)

/** Files whose text is not ours or is about the words themselves. */
const EXEMPT = /^(?:CHANGELOG\.md|test\/tidy\/prose\.test\.ts|test\/expected\/.*)$/

interface Comment {
  readonly line: number
  readonly text: string
  readonly isDoc: boolean
}

/** Returns the comments of a source, each as one line of text. */
function commentsOf(text: string): readonly Comment[] {
  const pattern = /\/\*(\*?)\s([\s\S]*?)\*\/|(?:^|\s)\/\/ ([^\n]*)/g
  return [...text.matchAll(pattern)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: (match[2] ?? match[3] ?? '')
      .replace(/^\s*\*\s/, '')
      .replace(/\s*\n\s*\*?\s*/g, ' ')
      .trim(),
    isDoc: match[1] === '*',
  }))
}

const openings: Rule = {
  name: 'a doc comment begins with a verb or a noun phrase',
  advice: 'Begin with "Returns …", "Reads …", or with the noun that the comment describes.',
  find: (files) =>
    files
      .filter((file) => isSource(file) && !EXEMPT.test(file.path))
      .flatMap(({ path, text }) =>
        commentsOf(text)
          .filter((comment) => comment.isDoc && CLAUSE_WORDS.test(comment.text))
          .map((comment) => `${path}:${comment.line} ${comment.text.slice(0, 60)}`),
      ),
  breaks: [
    { path: 'cgi/process/run.ts', text: '/** What a process wrote. */\n' },
    { path: 'cgi/process/run.ts', text: '/**\n * Whether it ended.\n */\n' },
    { path: 'cgi/process/run.ts', text: 'const a = 1 /** Of the group. */\n' },
  ],
}

/** Words with a better one in the field, split so that the rule does not find itself. */
const COINED: ReadonlyArray<readonly [pattern: string, advice: string]> = [
  ['wi' + 'sh(?:es|ed)?', 'input, options'],
  ['to' + 'ld|te' + 'lls?|te' + 'lling', 'notify, report, return, pass'],
  ['men' + 'ders?|men' + 'd(?:s|ed|ing)?', 'recovery, repair'],
  ['leav' + 'ings', 'stale files'],
  ['(?<!single[- ]|in[- ])fli' + 'ghts?', 'in-flight request, single flight'],
  ['to' + 'wns?', 'fixture, site'],
  ['(?<!in-)hou' + 'ses?', 'server, project'],
  ['(?<![\\w.`])do' + 'ors?(?![`"\'=])', 'surface'],
  ['ga' + 'tes?', 'authorization'],
  ['she' + 'lf|she' + 'lves', 'package store, namespace'],
  ['work' + 'bench(?:es)?', 'temporary repository, quarantine'],
  ['stran' + 'gers?', 'anonymous client'],
  ['no' + 'body|some' + 'body|any' + 'body|who' + 'ever', 'user, client, caller'],
  ['at on' + 'ce', 'immediately, concurrently'],
  ['sta' + 'nds?|sto' + 'od', 'is, is stored'],
  ['come ' + 'by|let in|lets in|who as' + 'ks', 'the plain verb'],
]

/** Returns the texts of a file that people read: comments, test names, or a whole document. */
function proseOf({ path, text }: ProjectFile): ReadonlyArray<{ line: number; text: string }> {
  if (/\.md$/.test(path)) return text.split('\n').map((line, at) => ({ line: at + 1, text: line }))
  const names = [...text.matchAll(/\bt\.test\(\s*(['"`])(.*?)\1/g)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[2] ?? '',
  }))
  return [...commentsOf(text), ...names]
}

const coined: Rule = {
  name: 'comments, test names and documents use the terms of the field',
  advice: 'Use the term after the arrow.',
  find: (files) =>
    files
      .filter((file) => !isLock(file) && !EXEMPT.test(file.path))
      .filter(({ path }) => /\.(?:tsx?|md)$/.test(path))
      .flatMap((file) =>
        proseOf(file).flatMap(({ line, text }) =>
          COINED.filter(([word]) => new RegExp(`\\b(?:${word})\\b`, 'i').test(text)).map(
            ([word, advice]) => `${file.path}:${line} ${word} -> ${advice}: ${text.slice(0, 80)}`,
          ),
        ),
      ),
  breaks: [
    { path: 'cgi/process/run.ts', text: '// Clients are to' + 'ld.\n' },
    { path: 'test/cgi/process/run.test.ts', text: "t.test('no" + "body waits', async () => {})\n" },
    { path: 'docs/ssh.md', text: 'The ga' + 'te decides.\n' },
  ],
}

checkRules(t, [openings, coined])
