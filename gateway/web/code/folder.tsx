/** Folder on a page: path, entries and README. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { TreeEntry } from '../../../cgi/objects/tree.js'
import { isRendered, type Rendering } from '../../pool/renderings.js'
import { placePath } from '../../rendering/place-path.js'
import { PlainText, Shown } from '../../rendering/visible-text.js'
import { Icon, type IconName } from '../kit/icon.js'
import { Markdown, PlainMarkdown } from '../kit/markdown-view.js'
import { Ago } from '../kit/times.js'
import type { ShownFolder } from './folders.js'
import { PathLine } from './path-line.js'
import type { Place } from './place.js'

export interface FolderProps {
  /** URL of the repository. */
  readonly address: string
  readonly place: Place
  readonly folder: ShownFolder
  /** Rendered README, if the folder has one in Markdown. */
  readonly drawing: Rendering | undefined
  readonly children?: Child
}

export function Folder(props: FolderProps): JSX.Element {
  const { address, place, folder, drawing, children } = props
  const { entries, isCut, head, readme } = folder
  return (
    <>
      <PathLine address={address} place={place} />
      {children}
      <p class="commit-line">
        <Shown text={head.author.name} />{' '}
        <a href={`${address}/commit/${head.id}`}>
          <Shown text={firstLineOf(head.message)} />
        </a>{' '}
        <Ago atMs={head.committer.atMs} />
      </p>
      <table class="entries">
        <caption class="unseen">Files</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Last commit</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ entry, commit }) => (
            <tr>
              <td>
                <EntryName address={address} place={place} entry={entry} />
              </td>
              <td class="quiet">
                {commit !== undefined && (
                  <a href={`${address}/commit/${commit.id}`}>
                    <Shown text={firstLineOf(commit.message)} />
                  </a>
                )}
              </td>
              <td>{commit !== undefined && <Ago atMs={commit.committer.atMs} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && (
        <p class="notice">{`Only the first ${entries.length} entries are shown. Clone to see all.`}</p>
      )}
      {readme !== undefined && <Readme readme={readme} drawing={drawing} />}
    </>
  )
}

const ICONS: Readonly<Record<TreeEntry['kind'], IconName>> = {
  directory: 'file-directory-fill',
  file: 'file',
  symlink: 'file-symlink-file',
  submodule: 'file-submodule',
}

interface EntryNameProps extends Pick<FolderProps, 'address' | 'place'> {
  readonly entry: TreeEntry
}

function EntryName({ address, place, entry }: EntryNameProps): JSX.Element {
  const { kind, name, id } = entry
  const path = placePath({ ...place, path: [...place.path, name] })
  return (
    <>
      <Icon name={ICONS[kind]} />
      {kind === 'submodule' ? (
        <>
          <Shown text={name} /> <code>{`@ ${id.slice(0, 10)}`}</code>
        </>
      ) : (
        <a href={`${address}/src/${path}`}>
          <Shown text={name} />
        </a>
      )}
    </>
  )
}

interface ReadmeProps extends Pick<FolderProps, 'drawing'> {
  readonly readme: NonNullable<ShownFolder['readme']>
}

function Readme({ readme: { name, text }, drawing }: ReadmeProps): JSX.Element {
  return (
    <article class="readme">
      <h2>
        <Icon name="book" /> <Shown text={name} />
      </h2>
      {drawing === undefined ? (
        <PlainText text={text} />
      ) : isRendered(drawing) ? (
        <Markdown html={drawing} />
      ) : (
        <PlainMarkdown what="README" text={text} why={drawing.why} />
      )}
    </article>
  )
}

/** Returns the first line of a commit message, for lists. */
export function firstLineOf(message: string): string {
  return message.trimStart().split('\n', 1)[0] || '(no message)'
}
