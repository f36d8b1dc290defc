/** Reception of an uploaded attachment of a release, an issue or a comment. */

import { Failure } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { parseFileName } from '../../../conf/names.js'
import { receiveAttachment } from '../../../registry/attachments.js'
import { readParts } from '../../../registry/multipart.js'
import type { ReceivedFile } from '../../../registry/received-file.js'
import type { Context } from '../../request/context.js'

export interface Upload {
  readonly name: string
  readonly file: ReceivedFile
}

/** Receives a file: the form field `attachment`, or the whole body if it is not a form. */
export async function receiveUpload(
  { registry, settings }: Context,
  request: Pick<Request, 'headers' | 'body'>,
  wantedName: string | undefined,
): Promise<Upload> {
  const { sizeBytesMax } = settings.attachments
  const receive = async (name: string | undefined, body: Request['body']): Promise<Upload> => ({
    name: nameOf(name),
    file: await receiveAttachment(registry, body, sizeBytesMax),
  })
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return await receive(wantedName, request.body)
  for await (const { name, fileName, body } of readParts(request)) {
    if (name === FIELD) return await receive(wantedName || fileName, body)
  }
  throw new Failure('bad_request', `The form has no field "${FIELD}".`)
}

const FIELD = 'attachment'

function nameOf(name: string | undefined): string {
  if (name) return parseFileName(name)
  throw new Failure('bad_request', 'Could not determine name of attachment.')
}
