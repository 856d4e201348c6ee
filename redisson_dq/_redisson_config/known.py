"""All settings of Redisson, from 3.20 to 4.7: those that are taken over, that change nothing here, and the rest."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = ["DECIDES", "ENCRYPTED", "HARMLESS", "MEANINGLESS", "REFUSED", "SERVERS", "TAKEN", "Refused"]

#: By the section's name: where its addresses are.
SERVERS = {
    "singleServerConfig": "address",
    "masterSlaveServersConfig": "masterAddress",
    "sentinelServersConfig": "sentinelAddresses",
    "clusterServersConfig": "nodeAddresses",
    "replicatedServersConfig": "nodeAddresses",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Those that ``taking.py`` reads.
TAKEN = _words(
    """
    address checkSlotsCoverage clientName codec connectTimeout database masterAddress masterName natMap nodeAddresses
    password sentinelAddresses sentinelPassword sentinelUsername sslEnableEndpointIdentification sslKeystorePassword
    sslProtocols sslVerificationMode timeout username
    """
)

_OF_REDISSON = _words(
    """
    addressResolverGroupFactory checkLockSyncedSlaves cleanUpKeysAmount connectionListener eventLoopGroup executor
    fairLockWaitTimeout keepPubSubOrder lazyInitialization lockWatchdogBatchSize lockWatchdogTimeout maxCleanUpDelay
    minCleanUpDelay nettyExecutor nettyHook nettyThreads protocol referenceEnabled reliableTopicWatchdogTimeout
    slavesSyncTimeout threads transportMode useScriptCache useThreadClassLoader valkeyCapabilities
    """
)

# A command is never sent again in silence here, so there are no retries to set.
_OF_CONNECTIONS = _words(
    """
    connectionMinimumIdleSize connectionPoolSize credentialsReapplyInterval dnsMonitoringInterval dnsMonitoringTimes
    idleConnectionTimeout
    keepAlive pingConnectionInterval pingTimeout reconnectionDelay retryAttempts retryDelay retryInterval
    sslKeyManagerFactory sslKeystoreType sslProvider sslTrustManagerFactory sslTruststorePassword
    subscriptionConnectionMinimumIdleSize
    subscriptionConnectionPoolSize subscriptionTimeout subscriptionsPerConnection tcpKeepAlive tcpKeepAliveCount
    tcpKeepAliveIdle tcpKeepAliveInterval tcpNoDelay tcpUserTimeout tlsVersion
    """
)

# This library reads only from masters.
_OF_REPLICAS = _words(
    """
    checkMasterLinkStatus checkSentinelsList checkSlaveStatusWithSyncing failedSlaveCheckInterval
    failedSlaveNodeDetector failedSlaveReconnectionInterval fallbackLoadingToMaster loadBalancer
    masterConnectionMinimumIdleSize
    masterConnectionPoolSize monitorIPChanges readMode scanInterval sentinelsDiscovery shardedSubscriptionMode
    slaveAddresses slaveConnectionMinimumIdleSize slaveConnectionPoolSize subscriptionMode
    """
)

#: Those that change nothing here.
MEANINGLESS = _OF_REDISSON | _OF_CONNECTIONS | _OF_REPLICAS


@attrs.frozen
class Refused:
    """Why a setting cannot be taken over, and the options of ``connect`` that say the same instead."""

    why: str
    instead: frozenset[str] = frozenset()


#: Those that matter, and that a file cannot say here.
REFUSED: Mapping[str, Refused] = {
    "commandMapper": Refused("it renames commands, and this library sends Redis's own names"),
    "credentialsResolver": Refused(
        "it is a class of Java; give username= and password=, or credential_provider= of redis-py",
        frozenset(("password", "credential_provider")),
    ),
    "nameMapper": Refused(
        "it is a class of Java; give name_mapper= the prefix, or a function that maps names as it does",
        frozenset(("name_mapper",)),
    ),
    "natMapper": Refused(
        "it is a class of Java; a cluster takes address_remap= of redis-py, or natMap: in the file",
        frozenset(("address_remap",)),
    ),
    "secretKey": Refused(
        "Redisson PRO decrypts values by it, and this library does not; give password= and the like in plain",
        frozenset(("password", "credential_provider")),
    ),
    "sslCiphers": Refused(
        "Java's names of ciphers are not OpenSSL's; give ssl_ciphers= those of OpenSSL", frozenset(("ssl_ciphers",))
    ),
    "sslKeystore": Refused(
        "Python reads PEM files, and no keystore of Java: make one by openssl pkcs12 -in FILE -nodes -out client.pem, "
        "and give ssl_certfile='client.pem'",
        frozenset(("ssl_certfile",)),
    ),
    "sslTruststore": Refused(
        "Python reads PEM files, and no truststore of Java: make one by keytool -list -rfc -keystore FILE > ca.pem, "
        "and give ssl_ca_certs='ca.pem'",
        frozenset(("ssl_ca_certs", "ssl_ca_data", "ssl_ca_path")),
    ),
}

#: Parts of the names of settings that decide where to connect, as whom, or how values look. Such a setting that is not
#: known is refused. Of any other there is a warning only, as each newer Redisson has some that are not known here.
DECIDES = _words(
    """
    address host port node url uri endpoint server master sentinel cluster replica database user password credential
    secret token auth ssl tls nat proxy socket codec mapper serializ encrypt compress
    """
)

#: How a value begins that Redisson PRO decrypts.
ENCRYPTED = "{aes}"

#: The classes that Redisson has for these settings when a file says nothing.
HARMLESS = frozenset(("DefaultCommandMapper", "DefaultCredentialsResolver", "DefaultNameMapper", "DefaultNatMapper"))
