/** The interface of blob storage drivers. */

/** Immutable blobs, each under a key of the form `<sha256>-<16 hex digits>`. */
export interface BlobStorage {
  /**
   * Existing private folder on a local disk for files that are being received. That of the file
   * driver is on the same file system as its blobs, so that `put` can rename files.
   */
  readonly incomingFolder: string
  /**
   * Stores a complete file under a key. Atomic, and durable when this returns. The file is removed
   * from its path even if this throws. Throws `unavailable` if the storage does not respond or
   * refuses.
   */
  put(key: string, file: IncomingFile): Promise<void>
  /**
   * Reads a range of a blob. A chunk is valid until the next one is requested. Throws an Error if
   * the blob is missing or too short, because then the database is inconsistent, and `unavailable`
   * if the storage does not respond.
   */
  open(key: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>>
  /** Returns the path of a blob's file; undefined if the storage has no files. */
  pathOf(key: string): string | undefined
  /** Returns the size of a blob in bytes; undefined if it is missing. */
  sizeOf(key: string): Promise<number | undefined>
  /** Removes a blob. Does nothing if it does not exist. */
  remove(key: string): Promise<void>
  /** Lists all blobs in any order. Blobs that are added or removed meanwhile can be included. */
  list(): AsyncIterable<StoredBlob>
  /** Returns a temporary URL for clients; undefined if they cannot download from the storage. */
  directUrl(key: string, request: DirectRequest): Promise<string | undefined>
}

export interface IncomingFile {
  readonly path: string
  readonly bytes: number
}

export interface ByteRange {
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
}

export interface StoredBlob {
  readonly key: string
  readonly writtenAtMs: number
  readonly bytes: number
}

/** Method of the client's request, and headers of the reply that the storage must send. */
export interface DirectRequest {
  readonly method: 'GET' | 'HEAD'
  readonly contentType: string
  readonly contentDisposition: string
}
