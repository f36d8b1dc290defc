/** Random changes of a repository whose answers are compared. */

import { randomBytes, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { inBare, type Scene } from './compared-repository.js'
import { git, tryGit } from './git-client.js'
import { pick } from './random.js'

interface Change {
  readonly name: string
  readonly make: (scene: Scene) => Promise<unknown>
}

const BRANCHES = ['main', 'b1', 'b2', 'x/y', 'x/z'] as const

/** Changes of a repository, by a push and by git commands of an administrator. */
export const CHANGES: readonly Change[] = [
  { name: 'nothing', make: async () => {} },
  { name: 'a commit', make: (scene) => commitTo(scene, pick(BRANCHES)) },
  { name: 'a commit', make: (scene) => commitTo(scene, pick(BRANCHES)) },
  { name: 'a push', make: pushTo },
  {
    name: 'a branch that goes back',
    make: (scene) => inBare(scene, 'update-ref', `refs/heads/${pick(BRANCHES)}`, 'main~1'),
  },
  {
    name: 'a deleted branch',
    make: (scene) => inBare(scene, 'update-ref', '-d', `refs/heads/${pick(BRANCHES.slice(1))}`),
  },
  {
    name: 'a tag',
    make: (scene) => inBare(scene, 'tag', '-f', '-a', '-m', 'x', `v${randomInt(4)}`, 'main'),
  },
  { name: 'a deleted tag', make: (scene) => inBare(scene, 'tag', '-d', `v${randomInt(4)}`) },
  { name: 'packed references', make: (scene) => inBare(scene, 'pack-refs', '--all', '--prune') },
  { name: 'git gc', make: (scene) => inBare(scene, 'gc', '-q', '--prune=now') },
  { name: 'git repack', make: (scene) => inBare(scene, 'repack', '-a', '-d', '-q', '-n') },
  {
    name: 'git repack without a bitmap',
    make: (scene) => inBare(scene, 'repack', '-a', '-d', '-q', '-n', '--no-write-bitmap-index'),
  },
  {
    name: 'hidden references',
    make: (scene) => inBare(scene, 'config', '--add', 'uploadpack.hideRefs', 'refs/heads/x'),
  },
  {
    name: 'references that show again',
    make: (scene) => inBare(scene, 'config', '--unset-all', 'uploadpack.hideRefs'),
  },
  {
    name: 'another HEAD',
    make: (scene) => inBare(scene, 'symbolic-ref', 'HEAD', `refs/heads/${pick(BRANCHES)}`),
  },
]

async function commitTo(scene: Scene, branch: string): Promise<void> {
  await inBare(scene, 'update-ref', `refs/heads/${branch}`, await makeCommit(scene.path))
}

/** A file of a commit. */
export interface NewFile {
  readonly name: string
  readonly text: string
}

export function aFile(): NewFile {
  return { name: `f${randomInt(9)}`, text: pick(TEXTS) }
}

/** Writes commits of one file each to main, each on top of the one before. */
export async function commitFiles({ path: cwd }: Scene, files: readonly NewFile[]): Promise<void> {
  const commits = files.map(({ name, text }, at) => {
    const message = randomBytes(4).toString('hex')
    return [
      'commit refs/heads/main',
      `committer Ada <ada@example.com> ${Math.floor(Date.now() / 1_000)} +0000`,
      `data ${message.length}\n${message}`,
      ...(at === 0 ? ['from refs/heads/main^0'] : []),
      `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`,
    ].join('\n')
  })
  await git(['fast-import', '--quiet'], { cwd, input: commits.join('') })
}

async function pushTo(scene: Scene): Promise<void> {
  const cwd = join(scene.work, 'objects.git')
  const remote = scene.ada.remote(scene.address.slice(1))
  const commit = await makeCommit(cwd)
  await git(['push', '--quiet', remote, `+${commit}:refs/heads/${pick(BRANCHES)}`], { cwd })
}

/** Texts of files: few, so that later commits have files of earlier ones again. */
const TEXTS = Array.from({ length: 8 }, () => randomBytes(400).toString('base64'))

/**
 * Creates a commit on top of main, if main exists, with one file of another text. The other files
 * are those of main. Some commits are merges of main and of one or two other branches.
 */
async function makeCommit(cwd: string): Promise<string> {
  const { name, text } = aFile()
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd, input: text })
  const present = await tryGit(['ls-tree', 'main'], { cwd })
  const others = present.output.split('\n').filter((line) => !line.endsWith(`\t${name}`))
  const lines = [...others, `100644 blob ${blob}\t${name}`, ''].filter(Boolean)
  const tree = await git(['mktree'], { cwd, input: `${lines.join('\n')}\n` })
  const isMerge = randomInt(4) === 0
  const parents = (await parentsIn(cwd, isMerge)).flatMap((oid) => ['-p', oid])
  return git(['commit-tree', tree, ...parents, '-m', randomBytes(4).toString('hex')], { cwd })
}

/** Returns main, if it exists, and for a merge up to two other branches; any may be the first. */
async function parentsIn(cwd: string, isMerge: boolean): Promise<readonly string[]> {
  const { output, exitCode } = await tryGit(['rev-parse', '--verify', '-q', 'main'], { cwd })
  if (exitCode !== 0) return []
  if (!isMerge) return [output]
  const branches = await git(['for-each-ref', '--format=%(objectname)', 'refs/heads'], { cwd })
  const all = branches.split('\n')
  const parents = new Set([output, pick(all), pick(all)])
  return randomInt(2) === 0 ? [...parents] : [...parents].toReversed()
}
