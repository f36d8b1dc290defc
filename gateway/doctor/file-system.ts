/** Check of `gatehouse doctor` on the file systems of the data folder and of the pack cache. */

import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cachingMountOf, networkMountOf } from '../../cgi/repository/cached-attributes.js'
import { unlessMissing } from '../../conf/lib/disk.js'

/** The folders that are checked. */
interface Folders {
  readonly data: { readonly dir: string }
  readonly cache: { readonly dir: string }
}

/** Checks that changes of repositories by other machines are seen at their first read. */
export async function checkFileSystem({ data, cache }: Folders): Promise<string> {
  const mount = cachingMountOf(await deviceOf(data.dir))
  if (mount !== undefined) {
    throw new Error(
      `${data.dir} is on ${mount.type}, whose cached attributes hide pushes through other machines, so no answer to git is kept: mount it with noac,lookupcache=none (nfs) or actimeo=0 (cifs), or use a local disk`,
    )
  }
  const remote = networkMountOf(await deviceOf(cache.dir))
  if (remote !== undefined) {
    throw new Error(
      `the pack cache in ${cache.dir} is on ${remote.type}, so each clone reads it over the network: set cache.dir to a folder on a local disk`,
    )
  }
  return 'attributes of files are read when they are needed'
}

/** Returns the device of a folder, or of the first parent that exists. */
async function deviceOf(path: string): Promise<number> {
  const found = await unlessMissing(stat(path))
  return found?.dev ?? (await deviceOf(dirname(path)))
}
