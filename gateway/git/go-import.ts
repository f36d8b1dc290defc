/** Addresses of repositories for `go get` without a proxy (go.dev/ref/mod#vcs-find). */

import { cloneUrl } from '../actions/repositories/clone-urls.js'
import type { Route } from '../request/route.js'
import { GIT_SURFACE } from './surface.js'

/**
 * Returns a route for the import paths of a repository. The reply is the same for repositories that
 * do not exist or that the caller cannot read, because the go command sends no credentials here.
 */
function importRoute(path: string): Route<'open'> {
  return {
    surface: GIT_SURFACE,
    method: 'GET',
    path,
    query: 'go-get=1',
    access: { kind: 'open' },
    scopes: [],
    handle({ settings }, { params }) {
      const { owner = '', repo = '' } = params
      // Percent-encoded names have no character with a meaning in HTML.
      const names = [owner, repo.replace(/\.git$/, '')].map(encodeURIComponent).join('/')
      // An import path has no port.
      const { hostname, pathname } = new URL(settings.http.baseUrl)
      const root = `${hostname}${pathname.replace(/\/$/, '')}/${names}`
      const content = `${root} git ${cloneUrl(settings, names)}`
      return {
        status: 200,
        headers: [
          ['Content-Type', 'text/html; charset=utf-8'],
          ['X-Content-Type-Options', 'nosniff'],
        ],
        body:
          `<!doctype html>\n<html><head><meta name="go-import" content="${content}"></head>` +
          `<body>go get ${root}</body></html>\n`,
      }
    },
  }
}

/** Routes of the top of a repository and of each folder in it. */
export const GO_IMPORT_ROUTES = [
  importRoute('/{owner}/{repo}'),
  importRoute('/{owner}/{repo}/{folder...}'),
]
