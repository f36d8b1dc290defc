/** Surface of the REST API: errors are JSON objects with a message and the description's URL. */

import type { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import type { Context } from '../request/context.js'
import type { Surface } from '../request/route.js'

export const API_SURFACE: Surface = {
  name: 'api',
  challenges: false,
  refuse(context, failure) {
    return jsonReply(failure.status, errorBody(context, failure))
  },
}

/** Surface of downloads, which browsers open too, so session cookies are accepted. */
export const DOWNLOAD_SURFACE: Surface = { ...API_SURFACE, sessions: 'too' }

/** Returns a JSON reply with the headers that Gitea's clients expect. */
export function jsonReply(
  status: number,
  value: unknown,
  headers?: NonNullable<Reply['headers']>,
): Reply {
  return {
    status,
    headers: headers === undefined ? JSON_HEADERS : [...JSON_HEADERS, ...headers],
    body: JSON.stringify(value),
  }
}

const JSON_HEADERS: NonNullable<Reply['headers']> = Object.freeze([
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'max-age=0, private, must-revalidate, no-transform'],
  ['X-Content-Type-Options', 'nosniff'],
] as const)

function errorBody(context: Context, failure: Failure): { message: string; url: string } {
  return { message: failure.message, url: `${context.settings.http.baseUrl}/api/swagger` }
}
