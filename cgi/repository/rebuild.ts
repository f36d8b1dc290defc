/** Writes a repository from captured references and objects. */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CapturedObjects } from './captured-objects.js'
import type { CapturedReferences } from './captured-references.js'
import { syncTree } from './durable.js'

export interface CapturedRepository extends CapturedReferences, CapturedObjects {
  readonly objectFormat: 'sha1' | 'sha256'
}

/**
 * Writes a bare repository at `path` and flushes it. `place` writes the captured file of that name
 * to a path. The configuration is that of a new repository, and there are no hooks.
 */
export async function rebuildRepository(
  path: string,
  captured: CapturedRepository,
  place: (name: string, target: string) => Promise<void>,
): Promise<void> {
  const objects = join(path, 'objects')
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(join(path, folder), { recursive: true })
  }
  for (const name of captured.packs) {
    for (const file of [`${name}.pack`, `${name}.idx`]) {
      await place(file, join(objects, 'pack', file))
    }
  }
  for (const name of captured.loose) {
    await mkdir(join(objects, dirname(name)), { recursive: true })
    await place(name, join(objects, name))
  }
  await writeReferences(path, captured)
  await writeFile(join(path, 'config'), configOf(captured.objectFormat))
  if (captured.shallow !== undefined) await writeFile(join(path, 'shallow'), captured.shallow)
  await writeFile(join(path, 'HEAD'), captured.head)
  await syncTree(path)
}

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Writes object ids to `packed-refs`, which has no symbolic references; those become files. */
async function writeReferences(path: string, { references }: CapturedReferences): Promise<void> {
  const packed = ['# pack-refs with: sorted']
  for (const [name, value] of Object.entries(references)) {
    if (OID.test(value)) {
      packed.push(`${value} ${name}`)
      continue
    }
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), `${value}\n`)
  }
  await writeFile(join(path, 'packed-refs'), `${packed.join('\n')}\n`)
}

/** Returns the file that `git init --bare` writes for the object format. */
function configOf(objectFormat: 'sha1' | 'sha256'): string {
  const core = (version: number) =>
    `[core]\n\trepositoryformatversion = ${version}\n\tfilemode = true\n\tbare = true\n`
  if (objectFormat === 'sha1') return core(0)
  return `${core(1)}[extensions]\n\tobjectformat = sha256\n`
}
