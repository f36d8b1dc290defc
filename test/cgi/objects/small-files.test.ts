/** Small files of commits: those that no ref reaches or those of all refs, up to a limit. */

import t from 'tap'
import { listSmallFiles, type SmallFilesInput } from '../../../cgi/objects/small-files.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

async function idsOf(path: string, input: SmallFilesInput): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const batch of listSmallFiles(await findGit(), path, input)) ids.push(...batch)
  return ids
}

t.test('the small files that no ref reaches are listed', async (t) => {
  const copy = await newWorkingCopy(t)
  const base = await copy.commit('old', 'old\n')
  await copy.commit('small', 'small\n')
  await copy.commit('name with spaces', 'spaces\n')
  await copy.commit('exact', 'x'.repeat(20))
  const tip = await copy.commit('large', 'x'.repeat(21))
  await copy.git('reset', '--quiet', '--hard', base)
  const list = async (objectsMax = 1_000) => {
    const input = { commit: tip, bytesMax: 20, objectsMax }
    const ids = await idsOf(copy.path, input)
    const texts = await Promise.all(ids.map((id) => copy.git('cat-file', 'blob', id)))
    return texts.toSorted()
  }
  t.strictSame(await list(), ['small', 'spaces', 'x'.repeat(20)])
  t.strictSame(await list(0), [])
  await copy.git('branch', 'kept', tip)
  t.strictSame(await list(), [])
  t.equal((await idsOf(copy.path, { commit: undefined, bytesMax: 20 })).length, 4, 'of all refs')
})
