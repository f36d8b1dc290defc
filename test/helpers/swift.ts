/** Swift packages as their publisher sends them. */

import type { FormatRequest } from '../conformance/package-format.js'
import { zipOf } from './zips.js'

export const JSON_V1 = 'application/vnd.swift.registry.v1+json'
const BOUNDARY = '5EBD7C6A-66B9-4B5D-9D7C-0B2A7A3F2C11'

/** What `swift package archive-source` makes: everything is in one folder. */
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

/** A part, by name: its lines before the content, and that. */
export type SwiftPart = readonly [name: string, content: Uint8Array | string, more?: string]

/** A form as SwiftPM writes it: no file names, and a boundary in quotes. */
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
