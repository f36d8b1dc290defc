/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { AUTHORIZE_PAGES } from './authorize-page.js'
import { CODE_PAGES } from './code-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { HOME } from './home.js'
import { OAUTH_APPLICATIONS_PAGES } from './oauth-applications.js'
import { OWNER } from './owner.js'
import { PACKAGES_PAGES } from './packages-page.js'
import { REFERENCES_PAGES } from './references-page.js'
import { SIGN_IN_PAGES } from './sign-in.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...AUTHORIZE_PAGES,
  ...OAUTH_APPLICATIONS_PAGES,
  ...[ASSET_ROUTES, SIGN_IN_PAGES, APPLICATIONS_PAGES, CREATE_REPOSITORY_PAGES].flat(),
  ...[CODE_PAGES, COMMITS_PAGES, COMMIT_PAGES, REFERENCES_PAGES, PACKAGES_PAGES].flat(),
]
