/**
 * Prints documents of all commands for packages: `man` prints the manual page gatehouse(1), and
 * `completion` the completion for bash.
 */

import { allCommands } from './commands/all.js'

const [kind, version = ''] = process.argv.slice(2)
const COMMANDS = await allCommands()

process.stdout.write(kind === 'man' ? manualPage() : completion())

function manualPage(): string {
  const commands = COMMANDS.flatMap(({ words, usage, about, options }) => [
    '.TP',
    `.B ${escaped(words.join(' '))} ${escaped(usage)}`,
    escaped(about),
    ...Object.entries(options).flatMap(([name, option]) => [
      '.RS',
      '.TP',
      escaped([`--${name}`, option.value ?? ''].join(' ').trim()),
      escaped(option.about),
      '.RE',
    ]),
  ])
  return [
    `.TH GATEHOUSE 1 "" "gatehouse ${version}"`,
    '.SH NAME',
    'gatehouse \\- self-hosted code hosting with Git, package registries and an API',
    '.SH SYNOPSIS',
    '.B gatehouse',
    '.I COMMAND',
    '.RI [ OPTIONS ]',
    '.SH DESCRIPTION',
    'The commands use the settings of the server and work beside it.',
    'Run them as the user of the service:',
    '.PP',
    '.B sudo \\-u git gatehouse user create NAME \\-\\-admin',
    '.SH COMMANDS',
    ...commands,
    '.SH FILES',
    '.TP',
    '/etc/gatehouse/gatehouse.toml',
    'Settings. Each can be set by an environment variable, which has precedence.',
    '.TP',
    '/var/lib/gatehouse',
    'Repositories, packages, database and keys.',
    '.SH EXIT STATUS',
    '0 if the command succeeded, 1 for an error, 2 for a wrong call.',
    '',
  ].join('\n')
}

/** Escapes hyphens, backslashes, and a control character at the start of a line (groff(7)). */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&')
}

function completion(): string {
  const nouns = [...new Set(COMMANDS.map(({ words }) => words[0]))]
  const cases = nouns.flatMap((noun) => {
    const ofNoun = COMMANDS.filter(({ words }) => words[0] === noun)
    const verbs = ofNoun.flatMap(({ words }) => words[1] ?? [])
    return [
      `    ${noun}) verbs='${verbs.join(' ')}' ;;`,
      ...ofNoun.map(({ words, options }) => {
        const names = Object.keys(options).map((name) => `--${name}`)
        return `    '${words.join(' ')}') options='${[...names, '--help'].join(' ')}' ;;`
      }),
    ]
  })
  return [
    '# Completion of gatehouse(1) for bash.',
    '_gatehouse() {',
    `  local word=\${COMP_WORDS[COMP_CWORD]} verbs= options=--help name`,
    `  [ "$COMP_CWORD" -gt 1 ] || verbs='${nouns.join(' ')}'`,
    `  for name in "\${COMP_WORDS[1]}" "\${COMP_WORDS[1]} \${COMP_WORDS[2]-}"; do`,
    '    case $name in',
    ...cases,
    '    esac',
    '  done',
    '  [ "$COMP_CWORD" -le 2 ] || verbs=',
    '  case $word in',
    '    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;',
    '    *) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word") ;;',
    '  esac',
    '}',
    'complete -F _gatehouse gatehouse',
    '',
  ].join('\n')
}
