/** Refs that requests are answered from, directly after a change. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { packetLine } from '../../../gateway/packs/pkt-line.js'
import { ReferenceLists } from '../../../gateway/packs/reference-lists.js'
import { presentReferences } from '../../../gateway/packs/seen-references.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('refs that changed in an unknown way are awaited, but not by urgent requests', async (t) => {
  const repositoryPath = join(await temporaryFolder(t), 'one.git')
  const oid = '1'.repeat(40)
  const answer = Buffer.from(`${packetLine(`${oid} refs/heads/main\n`)}0000`)
  let asked = 0
  const lists = new ReferenceLists(async () => {
    asked += 1
    return answer
  }, 4_194_304)
  const ask = (isUrgent: boolean) =>
    presentReferences(lists, { repositoryPath, client: () => 'ada', isUrgent }, 'sha1')
  t.equal(ask(false), undefined, 'a missing repository has no refs')
  await mkdir(join(repositoryPath, 'refs'), { recursive: true })
  t.equal(ask(true), undefined)
  t.equal(asked, 0)
  const seen = await ask(false)
  t.match(seen, { state: { isSettled: true } })
  t.equal(seen?.references.targetOf('refs/heads/main')?.oid, oid)
  t.equal((await ask(true))?.references, seen?.references, 'a known list needs no time')
  t.equal(asked, 1)
})
