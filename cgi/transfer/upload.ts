/** The way of a request's body into a process, and what became of it. */

import type { RunningProcess } from '../process/run.js'

/** What became of the request's body; undefined while it goes well. */
export interface Upload {
  broken: { readonly error: unknown } | undefined
}

/** Feeds a request's body to a process; what breaks the body ends the process. */
export function pumpBody(body: AsyncIterable<Uint8Array>, running: RunningProcess): Upload {
  const upload: Upload = { broken: undefined }
  const pump = async () => {
    for await (const chunk of body) {
      if (!(await running.input.write(chunk))) break
    }
    running.input.end()
  }
  pump().catch((error: unknown) => {
    // An end of input here would look like the end of a chunked body: git must not see one.
    upload.broken = { error }
    running.kill()
  })
  return upload
}

/** To be asked when an answer broke off: throws where the body was the cause. */
export function throwUploadError(upload: Upload): void {
  if (upload.broken !== undefined) throw upload.broken.error
}
