/** Refs that are listed from their files are those that git lists, or git must list them. */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { type ListedReference, listStoredReferences } from '../../../cgi/refs/listed-references.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git as runGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Creates a bare repository whose objects stay in packs, as with conf/git.config. */
async function aRepository(t: Parameters<typeof temporaryFolder>[0]) {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  await server('config', 'receive.unpackLimit', '1')
  return {
    path,
    server,
    read: (name: string) => readFile(join(path, name), 'latin1'),
    async write(name: string, text: string) {
      await writeFile(join(path, 'part'), text)
      await rename(join(path, 'part'), join(path, name))
    },
  }
}

/** Returns the refs that git sends, without hidden ones. */
async function listByGit(path: string): Promise<readonly ListedReference[]> {
  const found = new Map<string, ListedReference>()
  for (const line of (await runGit(['ls-remote', path], { cwd: path })).split('\n')) {
    const [, oid = '', name = '', isPeeled] =
      /^(\S+)\t(refs\/(?!hidden\/).*?)(\^\{\})?$/.exec(line) ?? []
    const { oid: tag = oid } = found.get(name) ?? {}
    if (name !== '') found.set(name, { name, oid: tag, peeled: isPeeled && oid })
  }
  return [...found.values()]
}

t.test('refs are listed as git lists them through changes of all kinds', async (t) => {
  const { path, server, read, write } = await aRepository(t)
  const copy = await newWorkingCopy(t)
  const push = (...names: readonly string[]) => copy.git('push', '--quiet', path, ...names)
  const first = await copy.commit('one')
  await copy.git('tag', '-m', 'One', 'v1')
  await copy.git('tag', '-m', 'A tag of a tag', 'v1-again', 'v1')
  await copy.git('tag', '-m', 'A file', 'text', 'main:one')
  await copy.git('tag', 'light', 'main^{tree}')
  await copy.git('notes', 'add', '-m', 'A note', 'main')
  const head = (target: string) => server('symbolic-ref', 'HEAD', target)
  const steps: ReadonlyArray<readonly [string, 'files' | 'git', () => Promise<unknown>]> = [
    ['no refs', 'files', async () => {}],
    ['branches', 'files', () => push('main', 'main:a/topic', 'main:a-b')],
    ['annotated tags', 'files', () => push('v1', 'v1-again', 'text')],
    ['other refs', 'files', () => push('light', 'refs/notes/commits', 'main:refs/pull/1/head')],
    ['a hidden ref', 'files', () => server('update-ref', 'refs/hidden/one', first)],
    ['packed refs', 'files', () => server('pack-refs', '--all')],
    ['loose over packed', 'files', async () => push(`${await copy.commit('two')}:refs/heads/main`)],
    ['a new tag', 'files', () => push('v1:refs/tags/v2')],
    [
      'tags without their objects beside them',
      'files',
      async () => write('packed-refs', (await read('packed-refs')).replace(/^\^.*\n|^#.*\n/gm, '')),
    ],
    ['a HEAD without its branch', 'files', () => head('refs/heads/absent')],
    ['a HEAD that names a tag', 'git', () => head('refs/tags/light')],
    ['a HEAD that is a commit', 'git', () => write('HEAD', `${first}\n`)],
    ['a HEAD that names a branch', 'files', () => head('refs/heads/main')],
    ['a symbolic ref', 'git', () => server('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')],
    ['none', 'files', () => server('symbolic-ref', '--delete', 'refs/heads/alias')],
    ['a name that is not of ASCII', 'git', () => push('main:grün')],
    ['none', 'files', () => push(':grün')],
    ['a replaced object', 'git', () => server('replace', '-f', 'main', first)],
    ['none', 'files', () => server('replace', '-d', 'main')],
    [
      'a loose ref to a missing object',
      'git',
      () => write('refs/heads/a-b', `${'1'.repeat(40)}\n`),
    ],
    [
      'a packed ref to a missing object',
      'git',
      async () => {
        await write('refs/heads/a-b', `${first}\n`)
        await server('pack-refs', '--all')
        const text = await read('packed-refs')
        await write('packed-refs', text.replace(/^.*( refs\/heads\/a-b)$/m, `${'1'.repeat(40)}$1`))
      },
    ],
    ['none', 'files', () => write('refs/heads/a-b', `${first}\n`)],
    ['a loose object', 'git', () => server('tag', '-m', 'New', 'v3', first)],
    ['none', 'files', () => server('tag', '-d', 'v3')],
    [
      'many refs',
      'git',
      async () => {
        await push(...Array.from({ length: 250 }, (_, at) => `main:z${at}`))
        await server('pack-refs', '--all')
      },
    ],
  ]
  for (const [name, way, change] of steps) {
    await change()
    const found = await listStoredReferences(path)
    t.equal(found === undefined, way === 'git', `${name}: by ${way}`)
    if (found === undefined) continue
    t.strictSame(found.references, await listByGit(path), name)
    t.equal(found.head, await server('symbolic-ref', 'HEAD'), name)
  }
})
