-- A verification may find what differs, and cannot tell whether that is a problem.
ALTER TABLE batch_export_verification DROP CONSTRAINT batch_export_verification_verdict_check;
ALTER TABLE batch_export_verification ADD CONSTRAINT batch_export_verification_verdict_check
  CHECK (verdict IN ('intact', 'problems', 'unreachable', 'unclear', 'nothing_to_verify'));
