/** An error that ends a command: one line for the user, and the exit code. */
export class ExitError extends Error {
  readonly exitCode: number

  /** @param exitCode 1: the command failed; 2: the user can correct the input. */
  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** Creates the error for a wrong argument, file or profile: exit code 2. */
export const usageError = (message: string, cause?: unknown) => new ExitError(2, message, cause)

/** Returns the message of whatever was thrown. */
export const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error)
