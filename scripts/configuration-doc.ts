/** Prints docs/configuration.md, which lists every setting, from the schema of the settings. */

import type { Field } from '../conf/field.js'
import { SCHEMAS } from '../conf/schemas.js'

const INTRODUCTION = `# Configuration

<!-- Generated from conf/schemas.ts. To change this file, change the schema and run:
     scripts/build tests && node dist/scripts/configuration-doc.js > docs/configuration.md -->

\`\`\`toml
# gatehouse.toml
[http]
listen = "127.0.0.1:3000"
base_url = "https://code.example.org"
\`\`\`

Gatehouse reads \`gatehouse.toml\` in the working directory, or the file that \`GATEHOUSE_CONFIG\` names. The server and
the commands need no file: every setting has a default or may be absent.

- An environment variable takes precedence over the file.
- An unknown key or an invalid value stops the start. The message names each of them, without its value.
- A duration is a number with \`ms\`, \`s\`, \`m\` or \`h\`, and at most \`596h\`.
- A size is a number of bytes, or a number with \`KiB\`, \`MiB\` or \`GiB\`.
- A list is an array in the file, and separated by commas in a variable.
- A relative path starts at the working directory.
- \`systemctl reload gatehouse\` applies changes of the file, except \`data.dir\` and \`ssh.socket\`, which need a restart.
- Administrators see the settings in use, without secrets, at \`/admin/settings\`.

[conf/gatehouse.example.toml](../conf/gatehouse.example.toml) has the same settings with example values, to copy.
`

process.stdout.write([INTRODUCTION, ...Object.entries(SCHEMAS).map(describeSection)].join('\n'))

/** Returns the heading and the table of a section. */
function describeSection([section, fields]: [string, Readonly<Record<string, Field<unknown>>>]) {
  const rows = Object.entries(fields).map(([key, { about, byDefault }]) => {
    const variable = `GATEHOUSE_${section}_${key}`.toUpperCase()
    const cells = [code(`${section}.${key}`), code(variable), defaultOf(byDefault), about]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  const head = ['| key | environment variable | default | meaning |', '|---|---|---|---|']
  return [`## ${section}`, '', ...head, ...rows, ''].join('\n')
}

/** Returns the default as it is written in the file. */
function defaultOf(byDefault: Field<unknown>['byDefault']): string {
  if (byDefault === undefined) return 'none'
  if (!Array.isArray(byDefault)) return code(JSON.stringify(byDefault))
  return code(`[${byDefault.map((entry) => JSON.stringify(entry)).join(', ')}]`)
}

function code(text: string): string {
  return `\`${text}\``
}
