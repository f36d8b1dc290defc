/** Packages lists have the fields that Debian's own programs would list. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { renderPackages, stanzaOf } from '../../../registry/debian/packages-index.js'
import { EXAMPLE_DEBS } from '../../helpers/debian-examples.js'
import { isExpectedText } from '../../helpers/expected.js'

const PLACE = { distribution: 'bookworm', component: 'main' }

/** Returns the list of one component, for all architectures. */
function listText(): string {
  const entries = EXAMPLE_DEBS.filter(({ component }) => component === 'main')
  return entries.map(({ entry }) => `${stanzaOf(entry, PLACE)}\n`).join('')
}

t.test('the list has all fields of all packages and the path of each file', async (t) => {
  isExpectedText(t, listText(), 'debian/Packages')
})

/**
 * Parses paragraphs into fields, with names in lower case and leading white space reduced to one.
 */
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

t.test('dpkg-scanpackages and apt-ftparchive give the same value for every field', async (t) => {
  const folder = t.testdir()
  for (const { component, fileName, bytes } of EXAMPLE_DEBS) {
    const path = join(folder, 'pool/bookworm', component, fileName)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
  }
  const ours = paragraphsOf(listText())
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
      t.ok(shared.length >= our.size - 1, `${program} lists all fields except SHA512`)
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

t.test('each component and architecture has a separate list', async (t) => {
  const lists = renderPackages(
    EXAMPLE_DEBS.map(({ entry }) => entry),
    'bookworm',
  )
  t.strictSame(
    [...lists.keys()].sort(),
    [...new Set(EXAMPLE_DEBS.map(({ entry }) => entry.part))].sort(),
  )
  for (const [part, { content, count }] of lists) {
    const wanted = EXAMPLE_DEBS.filter(({ entry }) => entry.part === part)
    const [component = ''] = part.split('/')
    const place = { distribution: 'bookworm', component }
    t.equal(count, wanted.length)
    t.equal(content.toString(), wanted.map(({ entry }) => `${stanzaOf(entry, place)}\n`).join(''))
  }
})
