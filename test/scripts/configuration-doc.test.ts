/** Generator of docs/configuration.md, compared with the file. */

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { SCHEMAS } from '../../conf/schemas.js'

const ROOT = new URL('../../../', import.meta.url).pathname
const PROGRAM = 'dist/scripts/configuration-doc.js'
const FILE = 'docs/configuration.md'

const REGENERATE = `scripts/build tests && node ${PROGRAM} > ${FILE}`

const generated = execFileSync(process.execPath, [PROGRAM], { cwd: ROOT, encoding: 'utf8' })

t.test('docs/configuration.md is what the generator prints', async (t) => {
  t.equal(await readFile(`${ROOT}${FILE}`, 'utf8'), generated, `if it differs, run: ${REGENERATE}`)
})

t.test('every setting has a row with its variable, its default and its meaning', async (t) => {
  t.match(generated, REGENERATE, 'the file says how to regenerate it')
  const rows = generated.split('\n').filter((line) => line.startsWith('| `'))
  const keys = Object.entries(SCHEMAS).flatMap(([section, fields]) =>
    Object.keys(fields).map((key) => `${section}.${key}`),
  )
  t.strictSame(
    rows.map((row) => row.split('`')[1]),
    keys,
  )
  const listen = '| `http.listen` | `GATEHOUSE_HTTP_LISTEN` | `"127.0.0.1:3000"` |'
  t.match(generated, `${listen} Address and port to listen on, or a list of them. |\n`)
  t.match(generated, '| `["127.0.0.1", "::1"]` | Addresses that may read /metrics. |\n')
  t.match(generated, '| `http.base_url` | `GATEHOUSE_HTTP_BASE_URL` | none |')
})
