/** Comparison of an answer by the gateway with git's. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { callUploadPack, UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { readInBare, type Scene } from './compared-repository.js'
import {
  hasOffsetDeltas,
  isAcknowledgment,
  isKept,
  isReady,
  isRefusal,
  objectsOf,
  postFetch,
  readAnswerV0,
  readFetchAnswer,
} from './fetch-answers.js'
import { type Question, withDone } from './fetch-questions.js'
import { git } from './git-client.js'
import { packetLine } from './git-requests.js'

/** Returns the difference between two replies; undefined if a client ends up with the same. */
export async function differ(
  scene: Scene,
  { version, body }: Question,
  { warm, right }: { readonly warm: Buffer | undefined; readonly right: Buffer | undefined },
): Promise<string | undefined> {
  if (warm === undefined || right === undefined) {
    const refusal = right ? 'answers' : `refuses (${refusals.get(scene)})`
    return warm === right ? undefined : `git ${refusal}, and we do not`
  }
  if (warm.equals(right) || [warm, right].every(isRefusal)) return undefined
  const read = version === 2 ? readFetchAnswer : readAnswerV0
  const [one, other] = [read(warm), read(right)]
  // We may end a negotiation that git continues: its answer to a client that is done is the same.
  const isEarly = version === 2 && one.pack.length > 0 && other.pack.length === 0
  const last = isEarly ? await askGit(scene, { version, body: withDone(body) }) : undefined
  const final = last === undefined ? other : read(last)
  // The shallow commits are a set, which git lists in the order of the request.
  const [lines, rightLines] = [one, final].map((answer) => answer.lines.filter(isKept).toSorted())
  if (lines?.join() !== rightLines?.join()) return `${lines} is not ${rightLines}`
  const common = one.lines.flatMap((line) => /^ACK ([0-9a-f]+)/.exec(line)?.[1] ?? [])
  const foreign = common.filter((oid) => !body.includes(`have ${oid}`))
  if (foreign.length > 0) return `${foreign} was not sent`
  const [isNegotiating, isRight] = [one, other].map(({ lines }) =>
    lines.includes('acknowledgments'),
  )
  if (isNegotiating !== isRight) return 'one of the replies has no acknowledgments'
  if (one.isWhole !== other.isWhole) return `whole: ${one.isWhole}, git: ${other.isWhole}`
  if (one.pack.equals(final.pack)) return undefined
  // A client goes on to negotiate after a reply without a pack.
  if (one.pack.length === 0) return other.lines.some(isReady) ? undefined : 'no pack'
  // Only a client that says so can complete a thin pack.
  const bases = body.includes('thin-pack') ? scene.archive : undefined
  if (!body.includes('ofs-delta') && bases === undefined) {
    if (await hasOffsetDeltas(one.pack, scene.work)) return 'deltas that the client cannot read'
  }
  const here = await objectsOf(one.pack, scene.work, bases)
  const there = final.pack.length === 0 ? [] : await objectsOf(final.pack, scene.work, bases)
  if (here.join() === there.join()) return undefined
  // A stored reply may be for fewer common commits than git sees now, or for more. A reply to a
  // request with `done` does not name them.
  const sent = [...body.toString('latin1').matchAll(/have ([0-9a-f]+)/g)].map(([, oid = '']) => oid)
  const known = one.lines.some(isAcknowledgment) ? common : sent
  const shallow = [...body.toString('latin1').matchAll(/shallow ([0-9a-f]+)/g)].map(
    ([, oid]) => oid,
  )
  const has = new Set([...here, ...(await objectsBehind(scene, known, shallow))])
  const missing = there.filter((oid) => !has.has(oid))
  // A client fetches a missing tag of a commit that it has with its next request.
  const targets = missing.map((oid) => git(['rev-parse', `${oid}^{}`], { cwd: scene.archive }))
  const lost = (await Promise.all(targets)).filter((oid) => !has.has(oid))
  return lost.length === 0 ? undefined : `${lost.length} objects are missing`
}

/** Returns the objects of a client that has commits, some of which may be shallow. */
async function objectsBehind(
  { archive, work }: Scene,
  commits: readonly string[],
  shallow: readonly (string | undefined)[],
): Promise<readonly string[]> {
  if (commits.length === 0) return []
  const file = join(work, 'shallow')
  await writeFile(file, shallow.map((oid) => `${oid}\n`).join(''))
  const listed = await git(['rev-list', '--objects', '--ignore-missing', ...commits], {
    cwd: archive,
    environment: { GIT_SHALLOW_FILE: file },
  })
  return listed.split('\n').map((line) => line.slice(0, 40))
}

export async function ask(scene: Scene, { version, body }: Question): Promise<Buffer | undefined> {
  const { address: path, gatehouse, ada } = scene
  const answer = await postFetch({
    port: gatehouse.port,
    path,
    body,
    authorization: `token ${ada.token}`,
    headers: { 'git-protocol': `version=${version}` },
  })
  if (answer.status === 200) return answer.body
  if (answer.status === 400) return undefined
  throw new Error(`status ${answer.status}: ${answer.body}`)
}

/** Last errors of git. */
const refusals = new WeakMap<Scene, string>()

/** Returns git's reply, or its refusal of a commit that no visible ref reaches. */
export async function askGit(
  scene: Scene,
  { version, body }: Question,
): Promise<Buffer | undefined> {
  const { ours, path } = scene
  const wants = version === 2 ? wantsOf(body) : []
  const hidden = wants.length === 0 ? undefined : await findHidden(scene, wants)
  if (hidden !== undefined) return Buffer.from(packetLine(`ERR upload-pack: not our ref ${hidden}`))
  async function* only() {
    yield body
  }
  try {
    const answer = await callUploadPack(ours, {
      repositoryPath: path,
      gitProtocol: `version=${version}`,
      body: only(),
      signal: new AbortController().signal,
      timeoutMs: 60_000,
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    if (!(error instanceof UploadPackError)) throw error
    refusals.set(scene, error.message)
    return undefined
  }
}

function wantsOf(body: Buffer): readonly string[] {
  return [...body.toString('latin1').matchAll(/want ([0-9a-f]{40})/g)].map(([, want = '']) => want)
}

/** Returns the first existing commit, or tag of a commit, that no visible ref reaches. */
async function findHidden(scene: Scene, wants: readonly string[]): Promise<string | undefined> {
  const hidden = await readInBare(scene, 'config', '--get-all', 'uploadpack.hideRefs')
  const prefixes = hidden.split('\n').filter(Boolean)
  const listed = await readInBare(scene, 'for-each-ref', '--format=%(objectname) %(refname)')
  const refs = listed.split('\n').map((line) => line.split(' '))
  const visible = refs.flatMap(([oid = '', name = '']) =>
    prefixes.some((prefix) => name.startsWith(`${prefix}/`)) ? [] : [oid],
  )
  if (wants.every((want) => visible.includes(want))) return undefined
  // HEAD is visible also when its branch is hidden. It may have none.
  const tips = ['HEAD', ...visible].filter(Boolean)
  const reached = await readInBare(scene, 'rev-list', '--ignore-missing', ...tips, '--')
  const reachable = new Set([...visible, ...reached.split('\n')])
  const others = wants.filter((want) => !reachable.has(want))
  if (others.length === 0) return undefined
  const input = others.map((want) => `${want}^{commit}\n`).join('')
  const commits = await git(['cat-file', '--batch-check=%(objectname)'], {
    cwd: scene.path,
    input,
  })
  const isReachable = commits
    .split('\n')
    .map((line) => / missing$/.test(line) || reachable.has(line))
  return others.find((_, at) => !isReachable[at])
}
