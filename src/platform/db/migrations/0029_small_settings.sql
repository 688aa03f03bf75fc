-- Accounts are shown beside much of what they made, so what one keeps for its own looks is bounded: 4,096 bytes for hedgehog_config,
-- 65,536 for notification_settings. PostgreSQL writes a blank behind each comma and colon, hence half as much again.
UPDATE app_user SET hedgehog_config = NULL WHERE octet_length(hedgehog_config::text) > 6144;
UPDATE app_user SET notification_settings = '{}' WHERE octet_length(notification_settings::text) > 98304;
