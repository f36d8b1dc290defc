/** The list of packages says what the packages say, as Debian's own programs would list them. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parseControl } from '../../../registry/debian/control.js'
import { entryMetadata, packagesText, stanzaOf } from '../../../registry/debian/packages-index.js'
import { collect } from '../../helpers/byte-chunks.js'
import { EXAMPLE_DEBS } from '../../helpers/debian-examples.js'
import { controlOf } from '../../helpers/debs.js'
import { isExpectedText } from '../../helpers/expected.js'
import { anEntry } from '../../helpers/index-rooms.js'

const PLACE = { distribution: 'bookworm', component: 'main' }

async function* examples() {
  for (const { component, entry } of EXAMPLE_DEBS) if (component === 'main') yield entry
}

t.test('all fields of all packages are there, and where each file is', async (t) => {
  const text = (await collect(packagesText(examples(), PLACE))).toString()
  isExpectedText(t, text, 'debian/Packages')
})

/** Each paragraph as its fields: names in lower case, white space at a line's start as one. */
function paragraphsOf(text: string): ReadonlyArray<ReadonlyMap<string, string>> {
  return text
    .trim()
    .split(/\n\n+/)
    .map((paragraph) => {
      const fields = paragraph.replace(/\n\s+/g, '\v').split('\n')
      const pairs = fields.map((field): [string, string] => {
        const [name = '', ...rest] = field.split(':')
        return [name.toLowerCase(), rest.join(':').trim()]
      })
      return new Map(pairs)
    })
}

t.test('dpkg-scanpackages and apt-ftparchive agree on every field', async (t) => {
  const folder = t.testdir()
  for (const { component, fileName, bytes } of EXAMPLE_DEBS) {
    const path = join(folder, 'pool/bookworm', component, fileName)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
  }
  const ours = paragraphsOf((await collect(packagesText(examples(), PLACE))).toString())
  const programs = {
    'dpkg-scanpackages': ['--multiversion', 'pool/bookworm/main'],
    'apt-ftparchive': ['packages', 'pool/bookworm/main'],
  }
  for (const [program, args] of Object.entries(programs)) {
    const said = execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
    const theirs = paragraphsOf(said.toString())
    t.equal(theirs.length, ours.length, program)
    for (const our of ours) {
      const their = theirs.find((one) => one.get('filename') === our.get('filename'))
      const shared = [...our].filter(([name]) => their?.has(name))
      t.ok(shared.length >= our.size - 1, `${program} knows all fields but SHA512 at most`)
      for (const [name, value] of shared) {
        t.equal(value, their?.get(name), `${program}: ${our.get('package')} ${name}`)
      }
      const more = [...(their?.keys() ?? [])].filter((name) => !our.has(name))
      t.strictSame(
        more.filter((name) => name !== 'description-md5'),
        [],
        program,
      )
    }
  }
})

t.test('a hundred thousand packages go through in pieces', async (t) => {
  const control = parseControl(Buffer.from(controlOf({})))
  const entry = anEntry({
    ...{ part: 'main/amd64', metadata: entryMetadata(control), packageName: '', version: '' },
    ...{ fileName: 'x.deb', bytes: Buffer.from('x') },
  })
  async function* many() {
    for (let count = 0; count < 100_000; count += 1) yield entry
  }
  const stanzaBytes = Buffer.byteLength(`${stanzaOf(entry, PLACE)}\n`)
  let bytes = 0
  for await (const chunk of packagesText(many(), PLACE)) {
    bytes += chunk.length
    if (chunk.length > 131_072) t.fail(`a piece of ${chunk.length} bytes`)
  }
  t.equal(bytes, 100_000 * stanzaBytes)
})
