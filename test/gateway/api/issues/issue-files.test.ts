/** Configuration and templates of new issues over the API. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayWithRepository } from '../../../helpers/gateway-with-repository.js'

const FORM = `name: Bug
description: Something fails
labels: bug, help
body:
  - type: markdown
    attributes: { value: Thanks }
  - type: input
    id: version
    attributes: { label: Version }
    validations: { required: true }
`

const MARKDOWN = `---
name: Idea
about: A wish
title: 'Idea: '
labels: [wish]
ref: main
---

Please *describe*
`

const CONFIG = `blank_issues_enabled: false
contact_links:
  - name: Chat
    url: https://chat.example.org
    about: Questions
`

t.test('the files of the default branch describe new issues', async (t) => {
  const { get, as, copy, push } = await startGatewayWithRepository(t)
  const put = async (name: string, text: string) => {
    await copy.commit(`.gitea/ISSUE_TEMPLATE/${name}`, text)
    await push('main')
  }
  await mkdir(join(copy.path, '.gitea/ISSUE_TEMPLATE'), { recursive: true })
  const usual = { blank_issues_enabled: true, contact_links: [] }
  t.strictSame((await get('issue_config')).json, usual)
  t.strictSame((await get('issue_config/validate')).json, { valid: true, message: '' })
  t.strictSame((await get('issue_templates')).json, [])

  await put('config.yml', CONFIG)
  t.match((await get('issue_config')).json, {
    blank_issues_enabled: false,
    contact_links: [{ name: 'Chat', url: 'https://chat.example.org', about: 'Questions' }],
  })
  const faults: ReadonlyArray<readonly [text: string, message: RegExp]> = [
    [CONFIG.replace('about', 'abort'), /contact_link at position 1 is missing about key/],
    [CONFIG.replace('https:', ''), /is not a valid URL/],
    [CONFIG.replace('false', 'maybe'), /blank_issues_enabled must be/],
    ['a: [', /^1:5: /],
    ['- a', /must be a map/],
  ]
  for (const [text, message] of faults) {
    await put('config.yml', text)
    t.match((await get('issue_config/validate')).json, { valid: false, message }, text)
  }
  t.strictSame((await get('issue_config')).json, usual, 'a faulty file counts as none')

  await put('bug.yaml', FORM)
  await put('idea.md', MARKDOWN)
  t.match(await get('issue_templates'), {
    headers: { 'x-gitea-warning': undefined },
    json: [
      {
        name: 'Bug',
        about: 'Something fails',
        labels: ['bug', 'help'],
        ref: 'refs/heads/',
        body: [
          { type: 'markdown', id: '0', visible: ['form'] },
          {
            type: 'input',
            id: 'version',
            validations: { required: true },
            visible: ['form', 'content'],
          },
        ],
        file_name: '.gitea/ISSUE_TEMPLATE/bug.yaml',
      },
      {
        name: 'Idea',
        title: 'Idea: ',
        labels: ['wish'],
        ref: 'refs/heads/main',
        content: '\nPlease *describe*\n',
        body: [],
      },
    ],
  })
  await put('bad.yaml', FORM.replace('type: input', 'type: slider'))
  const { headers, json } = await get('issue_templates')
  t.match(headers['x-gitea-warning'], /count=1/)
  t.equal((json as unknown[]).length, 2)
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  for (const rest of ['issue_config', 'issue_config/validate', 'issue_templates']) {
    t.equal((await as('bob', 'GET', `/repos/ada/r/${rest}`)).status, 404, rest)
  }
})
