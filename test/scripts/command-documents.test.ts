/** The manual page and the completion of packages have every command. */

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { allCommands } from '../../scripts/commands/all.js'

const PROGRAM = fileURLToPath(new URL('../../scripts/command-documents.js', import.meta.url))
const print = (...args: readonly string[]) =>
  execFileSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' })

/** Returns the words that bash offers after a command line. */
function offered(script: string, line: string): readonly string[] {
  const words = line.split(' ')
  const call = `COMP_WORDS=("$@"); COMP_CWORD=${words.length - 1}; _gatehouse; echo "\${COMPREPLY[@]}"`
  const args = ['-c', `${script}\n${call}`, 'bash', ...words]
  return execFileSync('bash', args, { encoding: 'utf8' }).trim().split(' ')
}

t.test('the manual page has each command, and no line that groff takes for a macro', async (t) => {
  const lines = print('man', '1.2.3').split('\n')
  t.equal(lines[0], '.TH GATEHOUSE 1 "" "gatehouse 1.2.3"')
  for (const { words } of await allCommands()) {
    const name = words.join(' ').replaceAll('-', '\\-')
    t.ok(
      lines.some((line) => line.startsWith(`.B ${name}`)),
      name,
    )
  }
  const macros = new Set(
    lines.filter((line) => /^[.']/.test(line)).map((line) => line.split(' ')[0]),
  )
  t.strictSame([...macros].toSorted(), [
    '.B',
    '.I',
    '.PP',
    '.RE',
    '.RI',
    '.RS',
    '.SH',
    '.TH',
    '.TP',
  ])
})

t.test('bash completes nouns, verbs and options', async (t) => {
  const script = print('completion')
  t.ok(offered(script, 'gatehouse ').includes('user'))
  t.strictSame(offered(script, 'gatehouse tok'), ['token'])
  t.strictSame(offered(script, 'gatehouse token '), ['create', 'list', 'revoke'])
  t.strictSame(offered(script, 'gatehouse token create ada --s'), ['--scopes'])
  t.strictSame(offered(script, 'gatehouse doctor --'), ['--help'])
})
