/** Why the command ends early, in one line, and the exit code that says so. */
export class Halt extends Error {
  readonly exitCode: number

  /** @param exitCode 1: something was not stored; 2: the caller can set it right beforehand. */
  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** What the caller did wrong: an argument, a file, a profile. */
export const misuse = (message: string, cause?: unknown) => new Halt(2, message, cause)
