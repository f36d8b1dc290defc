/** Code pages of a repository: folders, files, and instructions for an empty repository. */

import type { JSX } from 'preact/jsx-runtime'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import type { Reply } from '../../../conf/http.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { type GitReader, readGit } from '../../actions/code/git-reader.js'
import { cloneUrl, sshUrl } from '../../actions/repositories/clone-urls.js'
import type { Rendering } from '../../pool/renderings.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { htmlReply } from '../kit/html.js'
import { definePage, redirectTo } from '../kit/page.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { transferNotice } from '../repositories/transfer-notice.js'
import { FileView } from './file-view.js'
import { readShownFile, type ShownFile } from './files.js'
import { Folder } from './folder.js'
import { readFolder, type ShownFolder } from './folders.js'
import { defaultPlace, entryOf, findPlace, type Place } from './place.js'

const ACCESS = { kind: 'repository', mode: 'read' } as const

/** Units with a page of their own, for visitors who cannot see the code. */
const OTHER_UNITS = ['issues', 'releases', 'actions'] as const

const top = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}',
  access: { ...ACCESS, unit: 'any' },
  async handle(context, { request, grant }) {
    const { name, owner } = grant.repository
    // The repository was renamed or transferred: redirect to its current address.
    if (grant.hasMoved) return movedTo(context, `/${owner.name}/${name}`)
    if (grant.modes.code === 'none') {
      const unit = OTHER_UNITS.find((one) => grant.modes[one] !== 'none')
      return redirectTo(context, `/${owner.name}/${name}/${unit}`)
    }
    if (await isEmptyRepository(repositoryPathOf(context, grant.repository))) {
      const page = (
        <RepositoryDocument context={context} grant={grant} tab="code">
          {await transferNotice(context, grant)}
          <EmptyRepository context={context} fullName={`${owner.name}/${name}`} />
        </RepositoryDocument>
      )
      return htmlReply(request, page)
    }
    return show(context, { request, grant }, (reader) => defaultPlace(reader, grant))
  },
})

const inside = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/src/{place...}',
  access: ACCESS,
  handle: (context, { request, grant, params }) =>
    show(context, { request, grant }, (reader) => findPlace(reader, params['place'] ?? '')),
})

function movedTo({ settings }: Context, path: string): Reply {
  return { status: 301, headers: [['Location', settings.http.basePath + path]] }
}

async function show(
  context: Context,
  { request, grant }: Caller,
  findPlace: (reader: GitReader) => Promise<Place>,
): Promise<Reply> {
  // Rendering may take long, so it starts after the git process is released.
  const contents = await readGit(context, grant, async (reader) =>
    readContents(reader, { place: await findPlace(reader), signal: request.signal }),
  )
  const { place } = contents
  const { name, owner } = grant.repository
  const fullName = `${owner.name}/${name}`
  const address = `${context.settings.http.basePath}/${fullName}`
  const drawing = await drawContents(context, grant, { address, contents })
  const title = place.path.join('/')
  const notice = title === '' ? await transferNotice(context, grant) : undefined
  return htmlReply(
    request,
    <RepositoryDocument
      context={context}
      grant={grant}
      tab="code"
      {...(title === '' ? {} : { title })}
    >
      {notice}
      {'folder' in contents ? (
        <Folder address={address} drawing={drawing} {...contents}>
          {place.path.length === 0 && <CloneAddresses context={context} fullName={fullName} />}
        </Folder>
      ) : (
        <FileView address={address} drawing={drawing} {...contents} />
      )}
    </RepositoryDocument>,
  )
}

type Contents =
  | { readonly place: Place; readonly folder: ShownFolder }
  | { readonly place: Place; readonly file: ShownFile }

async function readContents(
  reader: GitReader,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<Contents> {
  const entry = await entryOf(reader, place)
  return entry.kind === 'directory'
    ? { place, folder: await readFolder(reader, { place, entry, signal }) }
    : { place, file: await readShownFile(reader, { entry, signal }) }
}

/** Renders the lines of a file or the README of a folder; undefined if there is no text. */
async function drawContents(
  { renderings }: Context,
  { repository }: Caller['grant'],
  { address, contents }: { readonly address: string; readonly contents: Contents },
): Promise<Rendering | undefined> {
  const { place } = contents
  if ('file' in contents) {
    const { text } = contents.file
    if (text === undefined) return undefined
    return renderings.highlight({ text, name: place.path.at(-1) ?? '' }, repository.id)
  }
  const { readme } = contents.folder
  if (readme === undefined || !/\.(?:md|markdown)$/i.test(readme.name)) return undefined
  const { kind, name, path } = place
  const from = { address, place: { kind, name, path } }
  return renderings.markdown({ text: readme.text, from }, repository.id)
}

interface AddressesProps {
  readonly context: Context
  readonly fullName: string
}

function CloneAddresses({ context: { settings }, fullName }: AddressesProps): JSX.Element {
  return (
    <div class="clone">
      <label for="clone-https">Clone over HTTPS</label>
      <input
        type="text"
        id="clone-https"
        class="code"
        readonly={true}
        value={cloneUrl(settings, fullName)}
      />
      <label for="clone-ssh">Clone over SSH</label>
      <input
        type="text"
        id="clone-ssh"
        class="code"
        readonly={true}
        value={sshUrl(settings, fullName)}
      />
    </div>
  )
}

function EmptyRepository({ context, fullName }: AddressesProps): JSX.Element {
  const url = cloneUrl(context.settings, fullName)
  return (
    <section>
      <h2>This repository is empty</h2>
      <CloneAddresses context={context} fullName={fullName} />
      <p>
        {'When Git asks for a password over HTTPS, enter an access token. '}
        <a href={`${context.settings.http.basePath}/user/settings/applications`}>
          Create an access token
        </a>
      </p>
      <h3>Start with a new folder</h3>
      <pre tabindex={0}>
        <code>{`git clone ${url}\ncd ${fullName.split('/')[1]}\necho '# ${fullName.split('/')[1]}' > README.md\ngit add README.md\ngit commit -m 'First commit'\ngit push -u origin HEAD`}</code>
      </pre>
      <h3>Push an existing repository</h3>
      <pre tabindex={0}>
        <code>{`git remote add origin ${url}\ngit push -u origin HEAD`}</code>
      </pre>
    </section>
  )
}

export const CODE_PAGES = [top, inside]
