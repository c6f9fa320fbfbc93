/** A request to the admin API. */
export interface AdminRequest {
  method: string
  /** The path below `/admin/v1/`, encoded. */
  path: string
  query: Record<string, string>
  /** A value that is sent as JSON, or the text of a CSV file. */
  body?: object | string
  /** The media type of a text to return in place of JSON: the result is a `TextPage`. */
  accept?: string
  /** Whether the result is the bytes of the body, a `Uint8Array`. */
  isBinary?: boolean
}

/** A response that is not JSON. */
export interface TextPage {
  text: string
  /** The query parameters of the next page; null on the last one. */
  next: Record<string, string> | null
}

/** Sends a request and returns the parsed body. Throws for every unsuccessful response. */
export type SendRequest = (request: AdminRequest) => Promise<unknown>
