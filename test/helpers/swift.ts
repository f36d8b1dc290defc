/** Swift packages and the forms that publish them. */

import type { FormatRequest } from '../conformance/package-format.js'
import { zipOf } from './zips.js'

export const JSON_V1 = 'application/vnd.swift.registry.v1+json'
const BOUNDARY = '5EBD7C6A-66B9-4B5D-9D7C-0B2A7A3F2C11'

/** Returns an archive like `swift package archive-source` creates, with all files in one folder. */
export function sourceArchive(
  files: Readonly<Record<string, string>> = {},
  manifest = '// swift-tools-version:5.9\nimport PackageDescription\n',
): Promise<Buffer> {
  return zipOf(
    Object.fromEntries(
      Object.entries({ 'Package.swift': manifest, ...files }).map(([path, text]) => [
        `Hello/${path}`,
        text,
      ]),
    ),
  )
}

/** Part of a form: its name, its content and its header lines. */
export type SwiftPart = readonly [name: string, content: Uint8Array | string, more?: string]

/** Returns a form as SwiftPM sends it: without file names, and with a quoted boundary. */
export function swiftForm(
  path: string,
  parts: readonly SwiftPart[],
  headers: Readonly<Record<string, string>> = {},
): FormatRequest {
  const pieces = parts.flatMap(([name, content, more = 'Content-Transfer-Encoding: binary']) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n${more}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return {
    method: 'PUT',
    path,
    headers: {
      accept: JSON_V1,
      'content-type': `multipart/form-data;boundary="${BOUNDARY}"`,
      ...headers,
    },
    body: Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece))),
  }
}
