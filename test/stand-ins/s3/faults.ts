// What S3 refuses, by its own codes. The texts are for whoever reads a failed test.

export class S3Fault extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message = code,
  ) {
    super(message)
  }
}

export const noSuchBucket = () => new S3Fault('NoSuchBucket', 404)
export const noSuchKey = () => new S3Fault('NoSuchKey', 404)
export const noSuchUpload = () => new S3Fault('NoSuchUpload', 404)
export const accessDenied = (why: string) => new S3Fault('AccessDenied', 403, why)
export const invalidArgument = (why: string) => new S3Fault('InvalidArgument', 400, why)
export const notImplemented = (what: string) => new S3Fault('NotImplemented', 501, what)
