/** Lists of refs of repositories without a server, and git's own. */

import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findGit } from '../../cgi/process/git.js'
import { readPresentState, readSettledState } from '../../cgi/repository/repository-state.js'
import { callUploadPack } from '../../cgi/transfer/upload-pack.js'
import { readBody } from '../../gateway/http/incoming-body.js'
import type { LsRefsRequest } from '../../gateway/packs/normal-request.js'
import { referenceListRequest } from '../../gateway/packs/reference-list.js'
import { type AskReferences, ReferenceLists } from '../../gateway/packs/reference-lists.js'
import { temporaryFolder } from './temporary.js'

/** Request of all that a list has. */
export const EVERYTHING: LsRefsRequest = {
  command: 'ls-refs',
  objectFormat: 'sha1',
  prefixes: [],
  peel: true,
  symrefs: true,
  unborn: true,
}

/** Maximum size of the lists together, in bytes. */
export const LISTS_BYTES_MAX = 4_194_304

/** Creates lists that a function answers, for repositories that are only folders. */
export async function someLists(t: Test, answer: AskReferences) {
  const folder = await temporaryFolder(t)
  const asked: string[] = []
  const lists = new ReferenceLists((question, body, bytesMax) => {
    asked.push(question.repositoryPath)
    return answer(question, body, bytesMax)
  }, LISTS_BYTES_MAX)
  return {
    asked,
    async newRepository() {
      const path = await mkdtemp(join(folder, 'repository-'))
      await mkdir(join(path, 'refs'))
      return path
    },
    async get(repositoryPath: string, objectFormat: 'sha1' | 'sha256' = 'sha1', client = 'ada') {
      const state = await readSettledState(repositoryPath)
      if (state === undefined) throw new Error('no state')
      return lists.get({ repositoryPath, client, state, objectFormat })
    },
    followed(repositoryPath: string) {
      const state = readPresentState(repositoryPath)
      if (state === undefined) throw new Error('no state')
      return lists.followed({ repositoryPath, state, objectFormat: 'sha1' })
    },
  }
}

/** Returns git's own list under the settings of a repository. */
export async function listBy(
  repositoryPath: string,
  body = referenceListRequest('sha1'),
): Promise<Buffer> {
  const answer = await callUploadPack(await findGit(), {
    repositoryPath,
    gitProtocol: 'version=2',
    signal: new AbortController().signal,
    timeoutMs: 10_000,
    body: onlyChunk(body),
  })
  return await readBody(answer.body, 1_048_576)
}

async function* onlyChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}
