/** A request to the admin API. */
export interface AdminRequest {
  method: string
  /** The path below `/admin/v1/`, encoded. */
  path: string
  query: Record<string, string>
  body?: object
  /** The text of a CSV file; then there is no `body`. */
  csv?: string
}

/** Sends a request and returns the parsed body. Throws for every unsuccessful response. */
export type SendRequest = (request: AdminRequest) => Promise<unknown>
