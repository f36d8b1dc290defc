/** The S3 server that test files share. */

import { t as root } from 'tap'
import { connectS3, S3_VARIABLE, type S3Client, type S3Server, startS3Server } from './s3-server.js'

let server: Promise<S3Server> | undefined

/** Returns the S3 server of this run, or starts one if the test file runs alone. */
export async function sharedS3Server(): Promise<S3Client> {
  const port = process.env[S3_VARIABLE]
  if (port !== undefined) return connectS3(Number(port))
  if (server === undefined) {
    const started = startS3Server()
    server = started
    root.teardown(async () => {
      server = undefined
      await (await started).remove()
    })
  }
  return await server
}
