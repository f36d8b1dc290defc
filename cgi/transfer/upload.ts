/** Transfer of a request's body into the standard input of a process. */

import type { RunningProcess } from '../process/run.js'

/** State of the transfer; `broken` is set if the body has thrown. */
export interface Upload {
  broken: { readonly error: unknown } | undefined
}

/** Writes a request's body to a process. If the body throws, ends the process. */
export function pumpBody(body: AsyncIterable<Uint8Array>, running: RunningProcess): Upload {
  const upload: Upload = { broken: undefined }
  const pump = async () => {
    for await (const chunk of body) {
      if (!(await running.input.write(chunk))) break
    }
    running.input.end()
  }
  pump().catch((error: unknown) => {
    // The input is not ended, because git would take that for the end of a complete body.
    upload.broken = { error }
    running.kill()
  })
  return upload
}

/** Throws the error of the body if there was one. Must be called when an answer is incomplete. */
export function throwUploadError(upload: Upload): void {
  if (upload.broken !== undefined) throw upload.broken.error
}
