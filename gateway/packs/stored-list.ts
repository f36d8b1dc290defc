/** A ref list made from the files of the refs, without git. */

import { listStoredReferences } from '../../cgi/refs/listed-references.js'
import { NULL_ID } from './advertised-refs.js'
import { formOf } from './line-forms.js'
import type { ObjectFormat } from './normal-fetch.js'
import { FLUSH, UNBORN } from './reference-lines.js'
import { ReferenceList } from './reference-list.js'

/**
 * Reads the list that git would send for the refs of a repository. Returns undefined if git must
 * send it: see `listStoredReferences`. Git also sees a client of another object format in a
 * repository without refs, whose format no id shows.
 */
export async function readStoredList(
  repositoryPath: string,
  objectFormat: ObjectFormat,
): Promise<ReferenceList | undefined> {
  const listed = await listStoredReferences(repositoryPath)
  if (listed === undefined) return undefined
  const { head, references } = listed
  const { length } = NULL_ID[objectFormat]
  if (references.length === 0 || references.some(({ oid }) => oid.length !== length)) {
    return undefined
  }
  const target = references.find(({ name }) => name === head)
  const { format } = formOf({ peel: true, symrefs: true, unborn: true })
  const lines = [
    format({ name: 'HEAD', oid: target?.oid ?? UNBORN, target: head, peeled: undefined }),
    ...references.map((reference) => format({ ...reference, target: undefined })),
  ]
  return await ReferenceList.parse(Buffer.concat([Buffer.from(lines.join(''), 'latin1'), FLUSH]))
}
