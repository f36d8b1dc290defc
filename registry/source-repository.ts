/** Repositories of a package owner, as formats see them that serve packages without an upload. */

import type { Reply, Request } from '../conf/http.js'

/** The repositories of one owner that the caller of a registry may read. */
export interface SourceRepositories {
  /** URL below which the repositories are, without a slash at the end: `https://host/owner`. */
  readonly url: string
  /**
   * Finds a repository by its name, which is case-sensitive, or by an earlier name of it. Undefined
   * if it does not exist or if the caller may not read its code.
   */
  find(name: string): Promise<SourceRepository | undefined>
}

export interface SourceRepository {
  /** URL from which git clones the repository. */
  readonly url: string
  /** Runs `use` with a reader. Throws `unavailable` if too many requests read repositories. */
  read<T>(use: (reader: SourceReader) => Promise<T>): Promise<T>
  /** Returns a file that is made of an archive of a commit, as a reply. */
  serveArchive(request: Request, archive: SourceArchive): Promise<Reply>
}

export interface SourceCommit {
  /** Full id. */
  readonly id: string
  /** Time of the committer, in whole seconds. */
  readonly committedAtMs: number
  /** Full name of the ref by which the commit was found; absent if it was found by its id. */
  readonly ref?: string
}

/** Reader of one repository, for the time of one call. */
export interface SourceReader {
  /** Lists the names of all tags, without `refs/tags/`. */
  listTags(): Promise<readonly string[]>
  /** Lists the tags of a commit and of its ancestors. */
  listMergedTags(commitId: string): Promise<readonly SourceTag[]>
  /**
   * Finds a commit by the name of a tag or a branch, by `HEAD`, or by an id of at least 7 digits.
   * An id must be reachable from a branch or a tag, so that commits of pull requests, which anyone
   * can create, are not found.
   */
  findCommit(name: string): Promise<SourceCommit | undefined>
  /** Reads a file, or the target of a symbolic link. Throws `not_found` if it is larger. */
  readFile(commitId: string, path: string, bytesMax: number): Promise<Buffer | undefined>
  /**
   * Lists the files below a folder, or all if it is empty, without submodules. Throws `not_found`
   * if there are more.
   */
  listFiles(
    commitId: string,
    options: { readonly directory: string; readonly filesMax: number },
  ): Promise<readonly SourceFile[]>
}

export interface SourceTag {
  /** Name without `refs/tags/`. */
  readonly name: string
  /** True if the tag is of the commit itself and not of an ancestor. */
  readonly isOfCommit: boolean
}

export interface SourceFile {
  /** Path below the folder. */
  readonly path: string
  readonly kind: 'file' | 'symlink'
  /** Size as stored, before the conversion of line breaks. */
  readonly bytes: number
}

export interface SourceArchive {
  readonly commitId: string
  /** Folder whose files the archive has; empty for all files. */
  readonly directory: string
  /** Everything besides commit and folder on which the file depends. */
  readonly words: readonly string[]
  readonly contentType: string
  /** Name under which a browser saves the file. */
  readonly fileName: string
  /**
   * Makes the file of the zip archive that git writes. Runs only if the file is not stored. Throws
   * before the first chunk if the file cannot be made.
   */
  readonly make: (
    archive: () => Promise<AsyncIterable<Uint8Array>>,
  ) => Promise<AsyncIterable<Uint8Array>>
}
