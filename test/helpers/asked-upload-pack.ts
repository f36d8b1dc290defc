/** Answers of git's upload-pack, without a gateway. */

import { findGit } from '../../cgi/process/git.js'
import { callUploadPack } from '../../cgi/transfer/upload-pack.js'
import { readBody } from '../../gateway/http/incoming-body.js'
import type { ObjectFormat } from '../../gateway/packs/normal-fetch.js'
import { ReferenceList, referenceListRequest } from '../../gateway/packs/reference-list.js'

const ours = await findGit()

/** Returns git's answer to a request of protocol v2. */
export async function askUploadPack(repositoryPath: string, request: Buffer): Promise<Buffer> {
  async function* body() {
    yield request
  }
  const { signal } = new AbortController()
  const call = { repositoryPath, gitProtocol: 'version=2', signal, timeoutMs: 30_000 }
  const answer = await callUploadPack(ours, { ...call, body: body() })
  return readBody(answer.body, 1 << 24)
}

/** Returns the refs of a repository as git lists them. */
export async function readReferenceList(
  path: string,
  objectFormat: ObjectFormat = 'sha1',
): Promise<ReferenceList> {
  const answer = await askUploadPack(path, referenceListRequest(objectFormat))
  const list = await ReferenceList.parse(answer)
  if (list === undefined) throw new Error('git returned no list')
  return list
}
