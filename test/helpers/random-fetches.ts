/** Random requests to upload-pack, of clones and of clients that have commits. */

import { randomBytes, randomInt } from 'node:crypto'
import { readInBare, type Scene } from './compared-repository.js'
import { command, type Question, vary } from './fetch-questions.js'
import { git, tryGit } from './git-client.js'
import { packetLine } from './git-requests.js'
import { pick, some } from './random.js'

export async function nextRequest(scene: Scene): Promise<Question> {
  if (scene.requests.length > 0 && randomInt(2) === 0) {
    const earlier = pick(scene.requests)
    return randomInt(2) === 0 ? earlier : vary(earlier)
  }
  const question = randomInt(3) === 0 ? lsRefs() : await fetchOf(scene)
  if (scene.requests.length > 20) scene.requests.shift()
  scene.requests.push(question)
  return question
}

export function lsRefs(): Question {
  const lines = [...some(['peel', 'symrefs', 'unborn'])]
  const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/', 'refs/heads/b1', 'refs/', 'refs/heads/x/']
  return command('ls-refs', [...lines, ...some(prefixes).map((prefix) => `ref-prefix ${prefix}`)])
}

async function fetchOf(scene: Scene): Promise<Question> {
  const listed = await readInBare(scene, 'for-each-ref', '--format=%(objectname)')
  const tips = [...new Set(listed.split('\n'))].filter(Boolean)
  for (const tip of tips) if (!scene.tips.includes(tip)) scene.tips.push(tip)
  // Most wants are current tips, and some are former ones.
  const mostlyTips = () => pick(randomInt(4) === 0 ? scene.tips : tips)
  const wants = Array.from({ length: 1 + randomInt(2) }, mostlyTips)
  const shape = pick([[], [], ['deepen 1'], ['deepen 2'], ['filter blob:none'], ['filter tree:0']])
  const cut = randomInt(12) === 0 ? ['deepen-since 1500000000'] : shape
  const flags = some(['include-tag', 'ofs-delta', 'thin-pack'])
  if (randomInt(3) === 0) return keptWorkspace(scene, pick(tips))
  if (randomInt(3) === 0) return fetchV0(scene, { wants, cut, flags })
  if (randomInt(5) === 0) wants.splice(0, wants.length, ...(await contentsOf(scene, wants)))
  return command('fetch', [
    ...flags,
    'no-progress',
    ...cut,
    ...wants.map((oid) => `want ${oid}`),
    ...(randomInt(2) === 0 ? ['done'] : await negotiation(scene)),
  ])
}

/** Returns a fetch into a workspace that has former tips, each to some depth. */
async function keptWorkspace(scene: Scene, tip: string): Promise<Question> {
  const { tips } = scene
  const depth = randomInt(4)
  const haves = Array.from({ length: 1 + randomInt(2) }, () => pick(tips))
  const shallow = new Set<string>()
  for (const have of depth === 0 ? [] : haves) {
    const { interior, boundary } = await cutAt(scene, have, depth)
    for (const oid of interior) shallow.delete(oid)
    for (const oid of boundary) shallow.add(oid)
  }
  return command('fetch', [
    'no-progress',
    ...some(['ofs-delta', 'thin-pack']),
    ...(depth === 0 ? [] : [`deepen ${pick([1, depth, depth + 1])}`]),
    `want ${tip}`,
    ...[...new Set(haves)].map((oid) => `have ${oid}`),
    ...[...shallow].map((oid) => `shallow ${oid}`),
    ...some(['done']),
  ])
}

/** Returns the commits of a workspace, by git's rule: the depth counts along all parents. */
async function cutAt({ archive }: Scene, tip: string, depth: number) {
  const listed = await git(['rev-list', '--parents', tip], { cwd: archive })
  const commits = listed.split('\n').map((line) => line.split(' '))
  const parents = new Map(commits.map(([oid = '', ...others]) => [oid, others]))
  const interior = new Set<string>()
  let boundary = [commits[0]?.[0] ?? '']
  for (let level = 1; level < depth; level += 1) {
    for (const oid of boundary) interior.add(oid)
    boundary = boundary.flatMap((oid) => parents.get(oid) ?? [])
    boundary = [...new Set(boundary)].filter((oid) => !interior.has(oid))
  }
  return { interior, boundary }
}

/** Returns lines of a client that has commits, some of which the server has never seen. */
async function negotiation({ archive, tips }: Scene): Promise<readonly string[]> {
  const unknown = randomBytes(20).toString('hex')
  const haves = Array.from({ length: 1 + randomInt(3) }, () => pick(tips))
  // Git refuses a `shallow` line with the id of a tag, which no client sends.
  const commitOf = (oid: string) => git(['rev-parse', `${oid}^{commit}`], { cwd: archive })
  return [
    ...haves.map((oid) => `have ${oid}`),
    ...(randomInt(4) === 0 ? [`have ${unknown}`] : []),
    ...(randomInt(4) === 0 ? [`shallow ${await commitOf(haves[0] ?? '')}`] : []),
    ...some(['done']),
  ]
}

/** Returns the trees and files of the first commit that has any, as partial clones want them. */
async function contentsOf({ path }: Scene, commits: readonly string[]): Promise<readonly string[]> {
  const trees = await tryGit(['ls-tree', '-r', '-t', commits[0] ?? ''], { cwd: path })
  const oids = [...trees.output.matchAll(/\b[0-9a-f]{40}\b/g)].map(([oid]) => oid)
  return oids.length === 0 ? commits : oids
}

interface FetchLines {
  readonly wants: readonly string[]
  readonly cut: readonly string[]
  readonly flags: readonly string[]
}

/** Returns a fetch of a client of protocol v0 that supports what git has supported since 2010. */
async function fetchV0(scene: Scene, { wants, cut, flags }: FetchLines): Promise<Question> {
  const needed = ['side-band-64k', 'no-progress', 'deepen-since', 'filter']
  const capabilities = [...needed, ...flags, ...some(['multi_ack_detailed', 'no-done'])].join(' ')
  const [first, ...others] = wants.map((oid) => `want ${oid}`)
  const lines = [`${first} ${capabilities}`, ...others, ...cut].map((line) => `${line}\n`)
  const rest = randomInt(2) === 0 ? ['done'] : await negotiation(scene)
  const haves = rest.filter((line) => line.startsWith('have '))
  const end = rest.includes('done') ? packetLine('done\n') : '0000'
  const text = `${lines.map(packetLine).join('')}0000${haves.map(packetLine).join('')}${end}`
  return { version: 0, body: Buffer.from(text) }
}
