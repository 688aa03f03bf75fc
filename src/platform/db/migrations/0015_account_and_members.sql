-- The name that the type of a destination was given by, where it is an alias: AwsS3 and S3Compatible are S3.
ALTER TABLE batch_export ADD COLUMN destination_alias text;
