/** Where the bytes of packages are: what every driver promises. */

/** Bytes that are written once under a key, and never changed. Keys are `<sha256>-<16 hex>`. */
export interface BlobStorage {
  /**
   * A folder on a local disk for files that are still being received, private and there. That of
   * the file driver is on the disk of its blobs, so that a rename will do.
   */
  readonly incomingFolder: string
  /**
   * Moves a whole file to where the key is: durable when this returns, and all or nothing. The file
   * is gone from its old place afterwards, whatever happened. Throws `unavailable` when the storage
   * does not answer.
   */
  put(key: string, file: IncomingFile): Promise<void>
  /**
   * The bytes of a part; a chunk is the reader's until it asks for the next. Throws an Error when
   * the blob is missing or shorter, since what names a blob is wrong then, and `unavailable` when
   * the storage does not answer.
   */
  open(key: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>>
  /** Removes a blob; one that is not there is fine. */
  remove(key: string): Promise<void>
  /** Every blob, in any order; one that comes or goes meanwhile may be among them. */
  list(): AsyncIterable<StoredBlob>
  /** Where a client may fetch the blob itself for a short while; undefined: through us alone. */
  directUrl(key: string, request: DirectRequest): Promise<string | undefined>
}

export interface IncomingFile {
  readonly path: string
  readonly bytes: number
}

export interface ByteRange {
  readonly start: number
  /** The first byte that is not wanted. */
  readonly end: number
}

export interface StoredBlob {
  readonly key: string
  readonly writtenAtMs: number
  readonly bytes: number
}

/** What a client will ask for, and the headers that it shall be answered with. */
export interface DirectRequest {
  readonly method: 'GET' | 'HEAD'
  readonly contentType: string
  readonly contentDisposition: string
}
