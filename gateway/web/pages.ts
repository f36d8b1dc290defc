/** The list of the pages: another page is a file and a line here. */

import type { AnyRoute } from '../route.js'
import { APPLICATIONS_PAGES } from './applications.js'
import { ASSET_ROUTES } from './assets.js'
import { CODE_PAGES } from './code-page.js'
import { COMMIT_PAGES } from './commit-page.js'
import { COMMITS_PAGES } from './commits-page.js'
import { COMPARE_PAGES } from './compare-page.js'
import { CREATE_REPOSITORY_PAGES } from './create-repository.js'
import { HOME } from './home.js'
import { ISSUE_PAGES } from './issue-page.js'
import { ISSUES_PAGE } from './issues-page.js'
import { NEW_ISSUE_PAGES } from './new-issue.js'
import { OWNER } from './owner.js'
import { PACKAGES_PAGES } from './packages-page.js'
import { PULL_CONTENTS_PAGES } from './pull-contents.js'
import { PULL_PAGES } from './pull-page.js'
import { PULLS_PAGE } from './pulls-page.js'
import { REFERENCES_PAGES } from './references-page.js'
import { RELEASES_PAGES } from './releases-page.js'
import { SIGN_IN_PAGES } from './sign-in.js'

export const WEB_ROUTES: readonly AnyRoute[] = [
  HOME,
  OWNER,
  ...[ASSET_ROUTES, SIGN_IN_PAGES, APPLICATIONS_PAGES, CREATE_REPOSITORY_PAGES].flat(),
  ...[CODE_PAGES, COMMITS_PAGES, COMMIT_PAGES, REFERENCES_PAGES, PACKAGES_PAGES].flat(),
  ISSUES_PAGE,
  ...ISSUE_PAGES,
  ...NEW_ISSUE_PAGES,
  PULLS_PAGE,
  ...[PULL_PAGES, PULL_CONTENTS_PAGES, COMPARE_PAGES].flat(),
  ...RELEASES_PAGES,
]
