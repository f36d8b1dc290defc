/** Names of cached answers are equal exactly if git's answers are equal. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { RepositoryState } from '../../../cgi/repository/repository-state.js'
import { AnswerNames } from '../../../gateway/packs/answer-names.js'
import { type FetchRequest, normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { normalize } from '../../../gateway/packs/normal-request.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { fetchBody, packetLine } from '../../helpers/git-requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const OID = '1'.repeat(40)
const OTHER_OID = '2'.repeat(40)

function requestOf(...lines: readonly string[]): FetchRequest {
  const request = normalize(fetchBody(OID, ...lines), 2)
  if (request?.command !== 'fetch') throw new Error('this is no fetch')
  return request
}

async function listOf(...lines: readonly string[]): Promise<ReferenceList> {
  const text = lines.map((line) => packetLine(`${line}\n`)).join('')
  const list = await ReferenceList.parse(Buffer.from(`${text}0000`))
  if (list === undefined) throw new Error('these are no references')
  return list
}

const STATE: RepositoryState = { text: 'one', settingsText: '[core]', isSettled: true }
const LATER: RepositoryState = { ...STATE, text: 'two' }
const MAIN = `${OID} refs/heads/main`
const LIST = await listOf(MAIN)
const MOVED = await listOf(MAIN, `${OTHER_OID} refs/heads/topic`)
const TAGGED = await listOf(MAIN, `${OTHER_OID} refs/tags/v1`)

/** Creates names for a git with this configuration and version. */
async function namesOf(t: Test, config = '', version: readonly number[] = [2, 39]) {
  const configFile = join(await temporaryFolder(t), 'git.config')
  await writeFile(configFile, config)
  const names = new AnswerNames({ version, configFile } as ConstructorParameters<
    typeof AnswerNames
  >[0])
  return (request: FetchRequest, state = STATE, references = LIST, path = '/r.git') =>
    names.nameOf(path, { request, state, references })
}

t.test('an unrelated change keeps the name of an answer', async (t) => {
  const nameOf = await namesOf(t)
  const request = requestOf('ofs-delta')
  const name = nameOf(request)
  t.match(name, /^[0-9a-f]{80}$/)
  t.equal(nameOf(request), name)
  t.equal(nameOf(requestOf('ofs-delta')), name, 'the same request of another client')
  t.equal(nameOf(request, LATER, MOVED), name, 'a push to another branch')
  t.equal(nameOf(request, LATER, TAGGED), name, 'tags that are not requested')
})

t.test("the name depends on everything that affects git's answer", async (t) => {
  const nameOf = await namesOf(t)
  const request = requestOf()
  const name = nameOf(request)
  t.not(nameOf(requestOf('deepen 1')), name, 'another request')
  t.not(nameOf(request, STATE, LIST, '/s.git'), name, 'another repository')
  t.not(nameOf(request, STATE, LIST, '/other/r.git'), name, 'a repository of the same folder name')
  t.not(nameOf(request, { ...STATE, settingsText: '' }), name, 'other settings')
  t.not((await namesOf(t, '[pack]'))(request), name, 'another configuration')
  t.not((await namesOf(t, '', [2, 40]))(request), name, 'another git version')
  t.equal((await namesOf(t))(request), name, 'all else is equal')
})

/** Arguments of a fetch, each of which changes git's answer. */
const LINES = [
  `want ${OTHER_OID}`,
  `have ${OTHER_OID}`,
  `shallow ${OTHER_OID}`,
  'thin-pack',
  'ofs-delta',
  'no-progress',
  'include-tag',
  'deepen-relative',
  'wait-for-done',
  'deepen 1',
  'deepen-since 1',
  'deepen-not v1',
  'filter tree:0',
  'done',
]

t.test(
  'the name depends on the version of the protocol and on each line of a request',
  async (t) => {
    const nameOf = await namesOf(t)
    const nameWith = (lines: readonly string[], version: 0 | 2 = 2) => {
      const form = { version, objectFormat: 'sha1', flags: new Set(lines) } as const
      const request = normalFetch([`want ${OID}`, ...lines], form)
      if (request === undefined) throw new Error('this is no fetch')
      return nameOf(request)
    }
    const names = new Map([
      ['version 2', nameWith(LINES)],
      ['version 0', nameWith(LINES, 0)],
      ...LINES.map((line) => [line, nameWith(LINES.filter((other) => other !== line))] as const),
    ])
    const firsts = new Map([...names].reverse().map(([line, name]) => [name, line]))
    for (const [line, name] of names) t.equal(firsts.get(name), line, line)
  },
)

t.test('tags and other references affect the name if the answer depends on them', async (t) => {
  const nameOf = await namesOf(t)
  const tags = requestOf('include-tag')
  t.equal(nameOf(tags, LATER, MOVED), nameOf(tags))
  t.not(nameOf(tags, LATER, TAGGED), nameOf(tags), 'tags')
  t.not(nameOf(tags, STATE, TAGGED), nameOf(tags), 'tags of another list of the same state')
  const since = requestOf('deepen-since 1')
  t.not(nameOf(since, LATER), nameOf(since), 'all references')
  const hiding = { settingsText: 'hideRefs', isSettled: true }
  const names = ['one', 'two'].map((text) => nameOf(tags, { ...hiding, text }))
  t.not(names[0], names[1], 'hidden tags are included too')
})
