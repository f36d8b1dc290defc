/** Rules of the project as tests: each rule is also tried on a file that breaks it. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

const ROOT = new URL('../../../', import.meta.url).pathname

export interface ProjectFile {
  readonly path: string
  readonly text: string
}

export interface Rule {
  readonly name: string
  /** Instruction for a finding. */
  readonly advice: string
  readonly find: (files: readonly ProjectFile[]) => readonly string[]
  /** Files each of which breaks the rule on its own. */
  readonly breaks: readonly ProjectFile[]
}

/** Checks that the project's files break no rule, and that each rule finds what breaks it. */
export function checkRules(t: Test, rules: readonly Rule[]): void {
  const project = projectFiles()
  for (const rule of rules) {
    t.test(rule.name, async (t) => {
      t.strictSame(rule.find(project), [], rule.advice)
      for (const broken of rule.breaks) {
        t.equal(rule.find([broken]).length, 1, `the rule finds ${JSON.stringify(broken)}`)
      }
    })
  }
}

/** Reads the files that git tracks or would track. */
function projectFiles(): readonly ProjectFile[] {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const paths = [...new Set(list.split('\0'))].filter((path) => path && existsSync(ROOT + path))
  return paths.map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }))
}

export const isSource = ({ path }: ProjectFile) => /\.tsx?$/.test(path)
export const isTest = ({ path }: ProjectFile) => path.startsWith('test/')
export const isLock = ({ path }: ProjectFile) => path === 'package-lock.json'
export const isCode = (file: ProjectFile) => isSource(file) || /^(?:scripts|\.ci)\//.test(file.path)

/** Returns `path:line` of every line that matches. */
export function linesWith(files: readonly ProjectFile[], pattern: RegExp): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}`] : [])),
  )
}

/** Returns the paths of the files that a file imports by a relative path. */
export function importedFiles({ path, text }: ProjectFile): readonly string[] {
  return [...text.matchAll(/(?:from|import\(|import) ?'(\.[^']*)'/g)].map(([, file = '']) =>
    join(dirname(path), file),
  )
}
